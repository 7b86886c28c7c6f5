"""Scoring: a model reads a claim with its evidence and gives logits; they are kept in a cache.

`pairs.score_pairs` is the entrance: it takes (claim, chunk) pairs and returns a score for each.
"""
