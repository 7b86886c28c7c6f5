"""Anchors of a claim: what its evidence must hold, each kind with a reader of its own."""
