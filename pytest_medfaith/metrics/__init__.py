"""Metrics as declared values: `registry` names them, `aggregate` takes them over cases, one file per family computes them.

`ragchecker`, `calibration` and `checker_scores` also take plain arrays. The package itself loads nothing.
"""
