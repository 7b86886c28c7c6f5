"""Trains and exports the models that the wheels ship. It is run from a clone, `python -m training`, and is no part of the wheel."""
