"""Metrics, one file for each family; `registry` holds all of them by name.

`aggregate` computes them over the cases of a slice, `project` adds those of a project. `ragchecker`,
`calibration` and `checker_scores` also take plain arrays. The package itself loads nothing.
"""
