"""Checkers: does the evidence support, refute, or leave open what a claim says."""
