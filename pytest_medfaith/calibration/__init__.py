"""Calibration: fits a checker's probabilities and thresholds to labelled rows, and shows the effect."""
