"""Numbers with units, normalised to base units: one reader for grounding, clash rules, audit and safety."""
