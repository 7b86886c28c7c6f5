"""Rules that refute without similar evidence: a future date, an impossible trial, a contradicted question."""
