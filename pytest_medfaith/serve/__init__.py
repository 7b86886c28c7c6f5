"""A checker behind HTTP, for apps that are not written in Python: `medfaith serve`."""
