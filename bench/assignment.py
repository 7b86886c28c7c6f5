"""How often a sentence without a citation is assigned the citation that its author gave it.

Each cited sentence of the recorded answers loses its markers in turn, and `assign_citations` gives it a
citation of its neighbours. The author's citation counts as right. Where no neighbour has it, any assignment
is wrong.

    python bench/assignment.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_medfaith.answers.responses import read_responses
from pytest_medfaith.claims.assignment import LEAST_SIMILARITY, assign_citations
from pytest_medfaith.claims.citations import parse_citations, read_citations
from pytest_medfaith.claims.layout import read_layout
from pytest_medfaith.jsonl import read_chunks
from pytest_medfaith.models.onnx import embed_texts

REPO = Path(__file__).parents[1]
STEPS = (0.0, 0.3, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7)


def hidden(answer: str) -> Iterator[tuple[str, int, tuple[str, ...]]]:
    """Yields, for each cited sentence, (the answer without its markers, where it begins, its markers)."""
    cited = read_citations(answer)
    layout = read_layout(cited.text)
    found = cited.markers_of(layout.sentences)
    zones = [sentence.zone for sentence in layout.sentences] + [len(answer)]
    for place, sentence in enumerate(layout.sentences):
        spans = [
            (mark.start, mark.end)
            for mark in parse_citations(answer)
            if zones[place] <= mark.start < zones[place + 1]
        ]
        if found[place] and spans:
            bare = list(answer)
            for start, end in spans:
                bare[start:end] = " " * (end - start)
            yield "".join(bare), sentence.start, found[place]


def main() -> None:
    """Prints, for each least similarity, how many sentences get the right, a wrong and no citation."""
    chunks = read_chunks([REPO / "corpus_samples"])
    scored: list[tuple[float, bool, bool]] = []
    unassigned = 0
    for name in ("medquad_nih", "bioasq_summary"):
        for response in read_responses(REPO / f"fixtures/responses/{name}.jsonl", chunks).values():
            passages = {str(place): chunk.text for place, chunk in enumerate(response.contexts, start=1)}
            for answer, start, own in hidden(response.answer):
                others = {mark.marker for mark in parse_citations(answer)}
                given = assign_citations(answer, passages, embed=embed_texts, least=-1.0)
                mine = next((one for one in given if one.start == start), None)
                if mine is None:
                    unassigned += 1
                else:
                    scored.append((mine.similarity, mine.marker in own, bool(others & set(own))))
    print(f"{len(scored)} sentences with a cited neighbour, {unassigned} without")
    print(f"{sum(can for _, _, can in scored)} of them whose citation another sentence of the answer has")
    print("least   right   wrong   none")
    for least in STEPS:
        right = sum(is_right for value, is_right, _ in scored if value >= least)
        wrong = sum(not is_right for value, is_right, _ in scored if value >= least)
        mark = "  <- shipped" if least == LEAST_SIMILARITY else ""
        print(f"{least:5.2f}  {right:6d}  {wrong:6d}  {len(scored) - right - wrong:5d}{mark}")


if __name__ == "__main__":
    main()
