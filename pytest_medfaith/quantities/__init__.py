"""Quantities: numbers with units in texts, converted to base units. "0.5 g" and "500 mg" are the same mass.

Grounding, the rules, the audit and the safety rules read them with `reader.read_quantities`.
"""
