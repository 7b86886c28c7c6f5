"""Fits a checker's calibration to labelled rows: reading and splitting them, the fit, and the account of what it changed."""
