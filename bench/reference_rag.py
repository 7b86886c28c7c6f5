"""Which questions the reference RAG answers at which threshold: on subjects of the samples, and on others.

    python bench/reference_rag.py

Passages are the ten best of BM25. Drafts are quotations, and their claims are taken as supported, so the
coverage of the question decides. Every second question of both gold files is on a subject of the samples
("inside"). No question of the list below is ("outside").
"""

from __future__ import annotations

from pathlib import Path

from pytest_medfaith import defaults
from pytest_medfaith.datasets.gold import read_gold_file
from pytest_medfaith.jsonl import read_chunks
from pytest_medfaith.models.onnx import embed_texts
from pytest_medfaith.rag.coverage import passage_coverage, word_coverage
from pytest_medfaith.rag.quoting import quoted_answer
from pytest_medfaith.retrieval.build import build_retriever

REPO = Path(__file__).parents[1]
STEPS = (0.6, 0.7, 0.75, 0.76, 0.77, 0.78, 0.79, 0.8, 0.85, 0.9)
OUTSIDE = (
    "How is leprosy treated?",
    "What is the dose of amoxicillin for otitis media?",
    "Can cataracts be prevented?",
    "What causes sickle cell disease?",
    "What are the side effects of clozapine?",
    "What is the treatment of scabies?",
    "How long does chickenpox last?",
    "Which gene causes cystic fibrosis?",
    "What is the capital of France?",
    "How do I change a bicycle tyre?",
    "Is vitamin K safe with warfarin in a patient with a mechanical mitral valve?",
    "What vaccine prevents rabies?",
    "What causes vertigo?",
    "Can tetanus be cured?",
    "What are signs of meningitis in babies?",
    "How is psoriasis treated with biologics?",
    "What is the prognosis of pancreatic cancer?",
    "What are the treatments for endometriosis?",
    "Which tests find Lyme disease?",
    "Does acupuncture help carpal tunnel syndrome?",
    "What causes kidney stones?",
    "Who should get the shingles vaccine?",
    "What is the dose of methotrexate in rheumatoid arthritis?",
    "How is a broken wrist treated?",
)


def main() -> None:
    """Prints, for each threshold, how many questions of either kind both confident modes answer."""
    chunks = read_chunks([REPO / "corpus_samples"])
    retriever = build_retriever("bm25", chunks)
    files = [REPO / "gold" / f"{name}.jsonl" for name in ("medquad_nih", "bioasq_summary")]
    inside = [case.question for path in files for case in read_gold_file(path)][::2]
    scores: dict[str, list[tuple[float, float]]] = {}
    for kind, questions in (("inside", inside), ("outside", OUTSIDE)):
        for question in questions:
            found = [hit.chunk for hit in retriever(question, top_k=10)]
            draft = quoted_answer(question, found, embed=embed_texts) if found else ""
            full = passage_coverage(question, found, embed=embed_texts)
            told = (0.5 + 0.5 * full, 0.5 + 0.5 * word_coverage(question, found)) if draft else (-1.0, -1.0)
            scores.setdefault(kind, []).append(told)
    print("answered    confident          confident-lite")
    print("threshold   inside   outside   inside   outside")
    for step in STEPS:
        counts = [
            f"{sum(one[mode] >= step for one in scores[kind]):2d} of {len(scores[kind])}"
            for mode in (0, 1)
            for kind in ("inside", "outside")
        ]
        mark = "  <- shipped" if step == defaults.RAG_THRESHOLD else ""
        print(f"{step:9.2f}   {'  '.join(counts)}{mark}")


if __name__ == "__main__":
    main()
