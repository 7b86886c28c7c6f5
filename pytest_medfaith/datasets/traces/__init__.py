"""Reads traces of RAG systems (OpenTelemetry, Phoenix, Langfuse, LangSmith) into responses."""
