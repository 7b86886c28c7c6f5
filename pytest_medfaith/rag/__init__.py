"""The reference RAG: answers questions from retrieved passages, for users without a RAG and for baselines.

Answers are written by an LLM (the teacher), or offline from quoted sentences.
"""
