"""Rules that need no similar evidence: a future date, a trial that cannot exist, a contradicted question."""
