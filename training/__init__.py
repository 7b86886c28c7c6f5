"""Trains and exports the models that the wheels ship.

The package is not in the wheel: it runs from a clone, as `python -m training`. Recipes, TOML files in
`training/recipes`, say what a model learns from and how.
"""
