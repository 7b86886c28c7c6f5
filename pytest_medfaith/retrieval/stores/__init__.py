"""Stores for corpora that outgrow one machine: Qdrant, PostgreSQL with pgvector, OpenSearch.

A store is a database server that keeps a corpus's chunks and vectors, and searches them.
"""
