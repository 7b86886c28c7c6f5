"""Fits a checker's calibration to labelled rows: reads and splits them, fits, and explains what changed."""
