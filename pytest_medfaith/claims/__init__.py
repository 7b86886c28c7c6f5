"""Claims of an answer, word for word.

`split` reads an answer from top to bottom and lists the rules of splitting. Before them `citations`,
`layout`, `blocks` and `leads` read its lines; `idle` and the modules that it asks tell what states nothing;
`context` tells what a reader of a claim needs.
"""
