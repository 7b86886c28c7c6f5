"""Retrievers: functions from a question to the best chunks of a corpus.

All have the shape `(query, *, top_k) -> list[Hit]`, whether they compare words (BM25), vectors (dense), or
fuse both.
"""
