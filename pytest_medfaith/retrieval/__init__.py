"""Retrievers: BM25, dense and their fusions, all of one shape `(query, *, top_k) -> list[Hit]`."""
