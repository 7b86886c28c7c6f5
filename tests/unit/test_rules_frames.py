from pytest_medfaith.checking.rules.frames import frames, frames_in_either_order
from pytest_medfaith.english.stems import word_key
from pytest_medfaith.english.words import MAX_TOKENS, content_keys, evidence_sentences, share


def test_spellings_and_forms_of_a_word_have_one_key():
    for one, other in [
        ("haemoglobin", "hemoglobin"),
        ("oestrogen", "estrogen"),
        ("tumours", "tumor"),
        (("diarrhoea"), "diarrhea"),
        ("reduces", "reduced"),
        ("randomised", "randomized"),
        ("tablets", "pill"),
        ("litres", "liter"),
    ]:
        assert word_key(one) == word_key(other), one
    assert word_key("metformin") != word_key("melatonin")


def test_function_words_and_numbers_are_no_content_and_generic_words_weigh_little():
    assert content_keys("It is given at 5 mg to the patient") == {word_key("mg"), word_key("patient")}
    assert share({"patient", "letrozol"}, {"letrozol"}) > 0.7


def test_a_run_on_is_no_sentence():
    assert evidence_sentences("word " * (MAX_TOKENS + 1)) == ()
    assert [len(sentence.tokens) for sentence in evidence_sentences("One. Two words.")] == [2, 3]


def test_the_best_covered_sentence_comes_first():
    claim = "Letrozole is started at 25 mg for women with PCOS."
    best, other = frames(
        claim,
        "Women with PCOS take letrozole at times. "
        "Letrozole is started at 2.5 mg for women with PCOS. Aspirin is cheap.",
    )
    # Any number is paired with any other number.
    assert (best.coverage, best.copies(), other.copies()) == (1.0, True, False)


def test_gaps_are_what_is_left_over_in_one_place():
    (frame,) = frames("Metformin lowers glucose in adults.", "Metformin slowly raises glucose in adults.")
    left = [
        ([frame.claim[i].text for i in mine], [frame.sentence.tokens[i].text for i in theirs])
        for mine, theirs in frame.gaps()
    ]
    assert left == [(["lowers"], ["slowly", "raises"])]


def test_an_opening_clause_may_be_read_at_the_end():
    evidence = "Listen. In adults over 65, the vaccine halves 50% of the risk."
    (frame,) = frames_in_either_order(
        "The vaccine halves 50 percent of the risk in adults over 65.", evidence
    )
    assert frame.coverage == 1
    assert [
        evidence[slice(*frame.place(here, here + 1))]
        for here, token in enumerate(frame.claim)
        if token.content
    ] == ("vaccine halves % risk adults".split())


def test_a_sentence_keeps_its_order_where_another_covers_no_more():
    (frame,) = frames_in_either_order("In adults, the vaccine works.", "In adults, the vaccine works.")
    assert [frame.pairs[index] for index in range(len(frame.claim))] == list(range(len(frame.claim)))
