"""An LLM behind an OpenAI-compatible endpoint as teacher: it judges, splits, ranks and writes; cassettes replay it."""
