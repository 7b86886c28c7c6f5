"""The teacher: an LLM at an OpenAI-compatible endpoint that judges claims, finds claims, ranks and writes."""
