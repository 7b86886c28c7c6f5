"""Safety rules: a rulebook in TOML, and what its rules read in a claim (clauses, advice, doses)."""
