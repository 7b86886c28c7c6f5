"""How bad an error is, by rules that can be read: `severity.toml` and those of a project."""
