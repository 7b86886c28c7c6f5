"""Bulk evaluation: the rows of a file, judged block by block on a cluster, as a single process would."""
