"""Gates: rules that compare a slice report with a bound, or with a kept baseline."""
