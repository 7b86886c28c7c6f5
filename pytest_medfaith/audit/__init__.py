"""Mutation testing of a checker: true sentences of a corpus, changed so that they are no longer true."""
