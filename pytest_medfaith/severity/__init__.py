"""How bad an error is, by readable rules: those of `severity.toml` and those of a project."""
