"""Claims of an answer, word for word.

`split` goes through an answer from top to bottom and lists the rules that split its sentences. Before them
`citations`, `layout`, `blocks` and `leads` read its lines. `idle`, with the modules that it asks, tells which
sentences state nothing. `context` tells which words before a claim its reader needs.
"""
