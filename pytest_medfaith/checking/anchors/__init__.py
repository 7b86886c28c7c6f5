"""Anchors of a claim: what its evidence must hold. Each kind of anchor has a reader."""
