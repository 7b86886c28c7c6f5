"""What the commands of `medfaith` do."""
