"""Trains and exports the models that the wheels ship.

The package is no part of the wheel: it runs from a clone, as `python -m training`.
"""
