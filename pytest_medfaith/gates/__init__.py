"""Gates, rules for a whole slice: a bound ("hallucination <= 0.05"), or a comparison with the baseline."""
