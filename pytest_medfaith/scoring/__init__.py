"""What a model says of a claim and its evidence: the texts that it reads, its logits, and their cache.

`pairs.score_pairs` is the door: pairs go in, a score for each comes out.
"""
