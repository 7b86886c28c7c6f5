"""A small RAG: a retriever finds passages, and the best sentences become the answer, each with its citation.

It copies sentences and writes none, so each of its statements is in a passage. A generating model can be
compared with it.
"""

import re

from pytest_medfaith import Response
from pytest_medfaith.english.sentences import sentence_spans

STOP = set(
    "what are the is of for and to in a an do does how can be with on or by who which when why it you your "
    "from at as this that".split()
)


def words(text):
    return {word[:6] for word in re.findall(r"[a-z0-9]{2,}", text.lower()) if word not in STOP}


def answer_question(question, retriever, *, passages=5, sentences=3):
    """Returns the sentences with most words of the question, in passage order, cited as [1], [2], ..."""
    hits = retriever(question, top_k=passages)
    wanted = words(question)
    scored = []
    for hit in hits:
        text, topic = hit.chunk.text, words(hit.chunk.title)
        for start, end in sentence_spans(text):
            shared = len(wanted & (words(text[start:end]) | topic)) / (len(wanted) or 1)
            scored.append((shared / hit.rank**0.5, hit.rank, start, text[start:end]))
    best = sorted(sorted(scored, reverse=True)[:sentences], key=lambda row: row[1:3])
    answer = " ".join(f"{sentence.rstrip('.')} [{rank}]." for _, rank, _, sentence in best)
    return Response(answer=answer, contexts=tuple(hit.chunk for hit in hits), model="extractive")
