"""Two runs side by side: metrics with paired tests, changed cases, claims that got worse; and ablations."""
