"""The teacher, an LLM at an OpenAI-compatible endpoint, judges, splits, ranks and writes."""
