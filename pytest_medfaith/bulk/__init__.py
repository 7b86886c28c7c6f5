"""Bulk evaluation: the rows of a file, judged block by block on a cluster, as one process would judge them."""
