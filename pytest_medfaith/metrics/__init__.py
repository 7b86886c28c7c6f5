"""Metrics as declared values: one file per family computes them, `registry` names them.

`aggregate` takes them over the cases of a slice, `project` adds those of a project. `ragchecker`,
`calibration` and `checker_scores` also take plain arrays. The package itself loads nothing.
"""
