"""Answers and contexts in whatever form a RAG system or another tool gives them."""
