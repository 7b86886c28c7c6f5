"""The reference RAG: for users without a RAG and for baselines, by a teacher or offline."""
