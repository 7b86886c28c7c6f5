"""Data only: the folder `default` holds the checker of that name, its card, graph, weights and tokenizer."""
