"""Two runs side by side: metrics with paired tests, cases that changed, claims that regressed."""
