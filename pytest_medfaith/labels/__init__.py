"""People's labels of claims: which claims they are asked about, how far they agree, what rates follow."""
