"""What the safety rules read of a claim: terms, clauses, what a clause advises, doses."""
