"""What the commands of `medfaith` do, one module for each or for a few that belong together."""
