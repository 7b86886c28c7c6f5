"""Bulk evaluation: judges the rows of a large file in blocks, on a cluster, as a single process would."""
