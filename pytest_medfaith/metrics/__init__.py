"""Metrics as declared values: `registry` names them, `aggregate` takes them over cases, one file per family computes them.

The package itself loads nothing; numpy is imported by `bootstrap`, `aggregate` and `calibration`, and by `ragchecker` when it is used.
"""
