"""The bank of an audit: its form, and that an item is what it says."""

import difflib
import re
from collections import Counter

import pytest

from pytest_medfaith.audit.bank import BANK, read_bank
from pytest_medfaith.english.words import content_keys, share
from pytest_medfaith.metrics.audit import BANK_STRATA

ITEMS = read_bank()
items = pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)


def numbers(text):
    return Counter(re.findall(r"\d+(?:[.,]\d+)*", text))


def test_every_stratum_has_as_many_items():
    assert Counter(item.stratum for item in ITEMS) == dict.fromkeys(BANK_STRATA, 14)
    assert len(ITEMS) >= 120


def test_no_text_stands_twice():
    texts = [
        text
        for item in ITEMS
        for text in (item.id, item.passage, item.claim, item.wrong, item.addition, item.near_miss)
    ]
    assert [text for text, times in Counter(texts).items() if times > 1] == []


@items
def test_an_item_is_whole(item):
    assert item.id.rpartition("-")[0] == item.stratum
    assert 40 <= len(item.passage.split()) <= 120
    assert all(
        text.endswith(".") and text == text.strip()
        for text in (item.passage, item.claim, item.wrong, item.addition, item.near_miss)
    )
    assert item.extra == {}


@items
def test_the_wrong_claim_has_a_single_small_change(item):
    right, wrong = item.claim.split(), item.wrong.split()
    same = sum(
        block.size
        for block in difflib.SequenceMatcher(
            None, sorted(right), sorted(wrong), autojunk=False
        ).get_matching_blocks()
    )
    assert item.claim != item.wrong
    assert len(right) + len(wrong) - 2 * same <= 10


@items
def test_nothing_is_copied_from_the_passage(item):
    for text in (item.claim, item.addition):
        assert text.rstrip(".") not in item.passage
    assert share(content_keys(item.addition), content_keys(item.passage)) <= 0.6


def test_claims_share_about_half_of_their_words_with_the_passage():
    shared = [share(content_keys(item.claim), content_keys(item.passage)) for item in ITEMS]
    assert sum(shared) / len(shared) < 0.6
    assert sum(one > 0.9 for one in shared) <= 2


@items
def test_figures_change_in_strata_of_figures_only(item):
    changed = numbers(item.claim) != numbers(item.wrong)
    if item.stratum == "unit":
        assert not changed
    if item.stratum in ("route", "arm", "order"):
        assert not changed


def test_the_readme_says_who_wrote_the_bank():
    readme = BANK.with_name("README.md").read_text(encoding="utf-8")
    assert readme.splitlines()[0] == "# bank.jsonl: LLM-written items in the manner of real errors"
    assert f"these {len(ITEMS)} items" in readme
    assert all(stratum in readme for stratum in BANK_STRATA)
