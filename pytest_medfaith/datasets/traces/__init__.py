"""Reads recorded traces of RAG systems, as OpenTelemetry, Phoenix, Langfuse and LangSmith write them, into responses."""
