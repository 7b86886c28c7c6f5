"""Anchors of a claim: numbers, units, names, routes and orders that its evidence must hold too.

"Take 50 mg at night" has the anchor "50 mg". Each module reads anchors of one kind.
"""
