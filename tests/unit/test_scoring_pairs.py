import numpy as np
import pytest

from pytest_medfaith.checking.card import read_card
from pytest_medfaith.checking.checker import Checker
from pytest_medfaith.checking.loading import load_checker
from pytest_medfaith.models import onnx
from pytest_medfaith.models.shipped import FAST_CHECKER
from pytest_medfaith.records import Chunk, Claim
from pytest_medfaith.scoring import similarity
from pytest_medfaith.scoring.pairs import softmax
from pytest_medfaith.scoring.reading import AS_SHIPPED
from pytest_medfaith.scoring.similarity import SimilarityShift, Vectors, encoder_signature
from pytest_medfaith.testing import containment_checker, scripted_checker

IRON = Chunk(id="iron", text="Iron tablets are best taken on an empty stomach.")
ZINC = Chunk(id="zinc", text="Zinc is found in meat and beans.")


class CountingScorer:
    def __init__(self, logits=(3.0, 0.0, -3.0)):
        self.seen = []
        self.logits = logits

    def __call__(self, pairs):
        self.seen += pairs
        return np.array([self.logits] * len(pairs), dtype=np.float32)


def claim(text: str, name: str = "c1") -> Claim:
    return Claim(id=name, text=text)


def test_equal_texts_are_scored_once_and_every_pair_gets_its_score():
    scorer = CountingScorer()
    pairs = [(claim("Iron helps.", f"c{i}"), chunk) for i in range(3) for chunk in (IRON, ZINC)]
    scores = Checker("x", "x", scorer).score(pairs)
    assert len(scorer.seen) == 2
    assert [(score.claim_id, score.chunk_id) for score in scores] == [(c.id, chunk.id) for c, chunk in pairs]


def test_a_second_run_reads_the_cache_and_another_model_does_not(tmp_path):
    cache = tmp_path / "pairs.sqlite"
    first, second, other = CountingScorer(), CountingScorer(), CountingScorer()
    scores = Checker("x", "weights-1", first, cache=cache).score([(claim("Iron helps."), IRON)])
    assert Checker("x", "weights-1", second, cache=cache).score([(claim("Iron helps."), IRON)]) == scores
    Checker("x", "weights-2", other, cache=cache).score([(claim("Iron helps."), IRON)])
    assert (len(first.seen), len(second.seen), len(other.seen)) == (1, 0, 1)


def test_a_broken_cache_is_made_anew(tmp_path):
    cache = tmp_path / "pairs.sqlite"
    cache.write_bytes(b"no database at all, only some bytes that stand here")
    checker = Checker("x", "x", CountingScorer(), cache=cache)
    assert checker("Iron helps.", [IRON]).label == "supported"
    assert cache.read_bytes().startswith(b"SQLite format 3")
    assert (
        cache.with_name("pairs.sqlite.damaged").read_bytes()
        == b"no database at all, only some bytes that stand here"
    )


def test_logits_that_are_not_finite_leave_the_claim_unscored_and_are_not_kept(tmp_path):
    checker = Checker(
        "x", "x", CountingScorer(logits=(float("nan"), 0.0, 0.0)), cache=tmp_path / "pairs.sqlite"
    )
    verdict = checker("Iron helps.", [IRON])
    assert (verdict.label, verdict.reason) == (
        "unscored",
        "the model gave no finite score; it may be that the claim is longer than it reads",
    )
    again = CountingScorer()
    assert (
        Checker("x", "x", again, cache=tmp_path / "pairs.sqlite")("Iron helps.", [IRON]).label == "supported"
    )
    assert len(again.seen) == 1


def test_a_chunk_that_could_not_be_scored_may_hold_what_refutes_the_claim():
    def broken_on_zinc(pairs):
        return np.array(
            [[np.nan] * 3 if "Zinc" in evidence else [6.0, 0.0, 0.0] for evidence, _ in pairs],
            dtype=np.float32,
        )

    verdict = Checker("x", "x", broken_on_zinc)("Iron helps.", [IRON, ZINC])
    assert (verdict.label, verdict.reason) == ("unscored", "the model gave no finite score for zinc")


@pytest.mark.parametrize(
    ("text", "reason"),
    [("...", "the claim holds no word"), ("a" * 4_001, "the claim has 4001 characters, more than 4000")],
)
def test_what_is_no_claim_is_unscored(text, reason):
    verdict = containment_checker()(text, [IRON])
    assert (verdict.label, verdict.reason) == ("unscored", reason)


def test_the_evidence_span_is_the_sentence_that_speaks_of_the_claim():
    chunk = Chunk(id="long", text="Zinc is found in meat. " * 20 + IRON.text)
    verdict = containment_checker()("Iron tablets are taken on an empty stomach.", [chunk])
    assert verdict.label == "supported"
    assert chunk.text[slice(*verdict.span)] == IRON.text


OTHER_MATTERS = (
    "The clinic keeps a register of everyone who was seen there during that year. Nurses note the weight of "
    "each visitor before the doctor comes in. Parking is free on weekdays, and the shop next door stays open "
    "until eight. Letters go out within ten working days. "
) * 8  # some 400 words, more than 500 tokens with the sentence


@pytest.mark.parametrize(
    ("asked", "read"),
    [
        ("Iron tablets are taken on an empty stomach.", 2),  # the sentence and the window around it
        ("Vitamins are sold in shops.", 1),
        ("Zebras run fast.", 0),
        (
            "Zebras run fast, " + "and lions follow them, " * 12,
            1,
        ),  # so long that only the model can say whether it reads it
    ],
)
def test_how_much_of_a_long_chunk_is_read_depends_on_how_near_it_is_to_the_claim(asked, read):
    scorer = CountingScorer()
    (score,) = Checker("x", "x", scorer).score(
        [(claim(asked), Chunk(id="long", text=OTHER_MATTERS + IRON.text))]
    )
    assert len(scorer.seen) == read
    assert score.logits == (scorer.logits if read else AS_SHIPPED.unread_logits)
    assert score.span is not None


@pytest.mark.parametrize("eighths", [2, 5])  # some 100 and 240 words
def test_a_chunk_of_up_to_three_hundred_words_that_is_near_to_the_claim_is_read_whole(eighths):
    scorer, text = CountingScorer(), OTHER_MATTERS[: len(OTHER_MATTERS) * eighths // 8] + IRON.text
    Checker("x", "x", scorer).score(
        [(claim("Iron tablets are taken on an empty stomach."), Chunk(id="abstract", text=text))]
    )
    assert [evidence for evidence, _ in scorer.seen] == [IRON.text, text]


def test_a_far_chunk_of_two_hundred_words_is_neutral_unread_and_of_a_short_one_its_best_sentence_is_read():
    scorer, long, short = (
        CountingScorer(),
        OTHER_MATTERS[: len(OTHER_MATTERS) // 2].strip(),
        OTHER_MATTERS[: len(OTHER_MATTERS) // 4].strip(),
    )
    far, near = Checker("x", "x", scorer).score(
        [(claim("Zebras run fast."), Chunk(id=text, text=text)) for text in (long, short)]
    )
    assert (far.logits, near.logits) == (AS_SHIPPED.unread_logits, scorer.logits)
    assert len(scorer.seen) == 1
    assert scorer.seen[0][0] in short


def test_similarity_moves_neutral_alone_and_a_sentence_counts_a_little_less_than_the_text_around_it():
    asked, text = claim("Iron tablets are taken on an empty stomach."), f"{ZINC.text} {IRON.text}"
    vectors = Vectors()
    vectors.add([asked.text, text, IRON.text])
    near = max(
        vectors.cosine(asked.text, text), vectors.cosine(asked.text, IRON.text) - AS_SHIPPED.sentence_discount
    )
    (score,) = Checker("x", "x", CountingScorer(), similarity=SimilarityShift(weight=4.0, even=0.3)).score(
        [(asked, Chunk(id="both", text=text))]
    )
    assert score.logits == pytest.approx((3.0, 4.0 * (0.3 - near), -3.0), abs=1e-4)
    assert near > 0.3


def test_the_shipped_checker_takes_its_similarity_from_its_card_and_names_it_in_its_signature():
    checker, card = load_checker("fast"), read_card(FAST_CHECKER)
    assert checker.similarity == SimilarityShift(weight=card.similarity_weight, even=card.similarity_even)
    assert checker.similarity.weight > 0
    assert checker.signature.endswith(
        f"|{encoder_signature()}|{card.similarity_weight}|{card.similarity_even}"
    )


def test_a_title_says_what_a_chunk_is_about():
    far = Chunk(id="none", text="It is taken on an empty stomach.")
    titled = Chunk(id="titled", title="Iron tablets", text=far.text)
    checker = Checker("x", "x", CountingScorer(), similarity=SimilarityShift(weight=4.0, even=0.3))
    untitled, with_title = checker.score(
        [(claim("Iron tablets need an empty stomach."), chunk) for chunk in (far, titled)]
    )
    assert with_title.logits[1] < untitled.logits[1]


def test_the_cosine_of_a_text_with_itself_is_one():
    vectors = Vectors()
    vectors.add([IRON.text, ZINC.text])
    assert vectors.cosine(IRON.text, IRON.text) == pytest.approx(1.0, abs=1e-3)
    assert vectors.cosine(IRON.text, ZINC.text) == vectors.cosine(ZINC.text, IRON.text) < 0.5


def test_a_second_run_asks_the_encoder_nothing_and_new_answers_from_the_same_corpus_only_for_their_claims(
    tmp_path, monkeypatch
):
    asked, embed_texts = [], onnx.embed_texts
    monkeypatch.setattr(
        onnx, "embed_texts", lambda texts, **options: asked.extend(texts) or embed_texts(texts, **options)
    )
    checker = Checker(
        "x",
        "x",
        CountingScorer(),
        similarity=SimilarityShift(weight=4.0, even=0.3),
        cache=tmp_path / "pairs.sqlite",
    )
    chunk = Chunk(id="both", text=f"{ZINC.text} {IRON.text}")
    scores = checker.score([(claim("Iron helps."), chunk)])
    assert asked == ["Iron helps.", chunk.text, ZINC.text, IRON.text]
    asked.clear()
    assert checker.score([(claim("Iron helps."), chunk)]) == scores
    checker.score([(claim("Zinc helps."), chunk)])
    assert asked == ["Zinc helps."]
    monkeypatch.setattr(similarity, "encoder_signature", lambda: "other weights")
    checker.score([(claim("Iron helps."), chunk)])
    assert len(asked) == 5


@pytest.mark.parametrize("proof_at_the_end", [True, False])
def test_a_long_chunk_scores_as_its_sentence_alone_does_where_other_sentences_blur_it(proof_at_the_end):
    def blurred(pairs):
        shares = [len(IRON.text) / len(evidence) if IRON.text in evidence else 0.0 for evidence, _ in pairs]
        return np.array([[4.0 * share, 1.0 - share, 0.0] for share in shares])

    text = OTHER_MATTERS + IRON.text if proof_at_the_end else f"{IRON.text} {OTHER_MATTERS}"
    checker, asked = Checker("blurred", "b", blurred), claim("Iron tablets are taken on an empty stomach.")
    alone, long = checker.score([(asked, IRON), (asked, Chunk(id="long", text=text))])
    assert (long.probs, long.label, text[slice(*long.span)]) == (alone.probs, "entail", IRON.text)


def test_a_short_chunk_scores_by_the_whole_and_by_its_best_sentence_together():
    def by_length(pairs):
        return np.array(
            [[0.0, 0.0, 1.0] if evidence == IRON.text else [2.0, 0.0, 0.0] for evidence, _ in pairs]
        )

    chunk = Chunk(id="both", text=f"{ZINC.text} {IRON.text}")
    (score,) = Checker("by length", "b", by_length).score(
        [(claim("Iron tablets are taken on an empty stomach."), chunk)]
    )
    share = AS_SHIPPED.sentence_share
    assert score.logits == pytest.approx((2.0 * (1 - share), 0.0, share))
    assert chunk.text[slice(*score.span)] == IRON.text


def test_the_sentence_that_means_the_claim_is_read_though_another_shares_more_of_its_words():
    words, other_words = (
        "Iron tablets are sold in boxes of ninety.",
        "Ferrous sulphate is best swallowed before meals.",
    )
    chunk, scorer = Chunk(id="both", title="Supplements", text=f"{words} {other_words}"), CountingScorer()
    (score,) = Checker("x", "x", scorer).score([(claim("Take iron sulphate tablets before you eat."), chunk)])
    assert chunk.text[slice(*score.span)] == other_words
    assert [evidence for evidence, _ in scorer.seen] == [f"Supplements. {other_words}", chunk.text]


@pytest.mark.parametrize("broken", [IRON.text, f"{ZINC.text} {IRON.text}"])
def test_a_short_chunk_whose_whole_or_sentence_has_no_score_has_none(broken):
    def broken_on_one(pairs):
        return np.array([[np.nan] * 3 if evidence == broken else [2.0, 0.0, 0.0] for evidence, _ in pairs])

    chunk = Chunk(id="both", text=f"{ZINC.text} {IRON.text}")
    (score,) = Checker("broken", "b", broken_on_one).score(
        [(claim("Iron tablets are taken on an empty stomach."), chunk)]
    )
    assert score.logits is None


@pytest.mark.parametrize(
    ("text", "proof"),
    [
        (
            "Metformin reduces insulin levels in women with PCOS.",
            "Metformin lowers insulin levels in women with PCOS.",
        ),
        ("Insulin lowers blood sugar.", "Insulin reduces the level of glucose in the blood."),
        ("Gout is caused by crystals of uric acid.", "Crystals of uric acid in the joints cause gout."),
        (
            "Warfarin is recommended in pregnancy.",
            "Warfarin is not recommended during pregnancy because it harms the fetus.",
        ),
        ("Iron tablets never cause constipation.", "Iron tablets often cause constipation and dark stools."),
    ],
)
def test_the_shipped_model_finds_a_proof_in_the_last_sentence_of_a_long_chunk(text, proof):
    checker, chunk = load_checker(), Chunk(id="long", text=OTHER_MATTERS + proof)
    alone, verdict = checker(text, [Chunk(id="alone", text=proof)]), checker(text, [chunk])
    assert alone.label in ("supported", "refuted")
    assert (verdict.label, chunk.text[slice(*verdict.span)]) == (alone.label, proof)
    assert verdict.score >= alone.score - 0.05  # a window that is surer still may raise it


def test_softmax_rounds_and_sums_to_one():
    assert softmax((0.0, 0.0, 0.0)) == (0.333333, 0.333333, 0.333333)
    assert softmax((2.0, 0.0, -2.0), temperature=2.0) == (0.665241, 0.244728, 0.090031)


def test_a_script_that_says_another_word_is_an_error():
    with pytest.raises(
        ValueError, match=r"told 'maybe' for 'Iron helps\.'; expected one of entail, neutral, contradict"
    ):
        scripted_checker(lambda _evidence, _claim: "maybe")("Iron helps.", [IRON])


@pytest.mark.parametrize("lost", ["window", "sentence", "both"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_chunk_that_was_scored_in_part_is_not_scored(lost, value):
    text = "Iron helps. Iron tablets help women. Iron is a metal that helps."

    def scorer(pairs):
        wrong = [lost == "both" or (len(evidence) > 40) == (lost == "window") for evidence, _ in pairs]
        return [(value if bad else 9.0, 0.0, 0.0) for bad in wrong]

    verdict = Checker("x", "x", scorer)("Iron helps.", [Chunk(id="iron", text=text)])
    assert verdict.label == "unscored"
    assert "no finite score" in verdict.reason
