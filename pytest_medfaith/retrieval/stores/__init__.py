"""Stores for corpora that outgrow one machine: Qdrant, PostgreSQL with pgvector, OpenSearch."""
