"""Checkers: does the evidence support or refute what a claim says, or does it leave the claim open?"""
