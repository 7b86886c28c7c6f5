"""The time of reading an answer grows as its length does, whatever the answer is made of."""

import time

import pytest

from pytest_medfaith.claims.split import read_answer

SHORT, LONG = 2_000, 8_000  # characters
PIECES = [
    "not ",
    " ",
    "\t",
    "\n",
    " \n",
    "% ",
    "5%",
    "5 mg ",
    "iron, ",
    "iron and tea ",
    ". ",
    ".",
    "(",
    "(a ",
    ('"a '),
    "<",
    ">",
    "*",
    "* a",
    "_a ",
    "__",
    "`",
    "[",
    "[1",
    "[1] ",
    "|",
    "| a ",
    "#",
    "-",
    "- ",
    "=",
    "a",
    "it lowers ",
    "Iron helps the blood. ",
    ("if iron helps "),
    ("that it "),
    "http://",
    "a@",
    "1",
    "1. ",
    "- iron\n",
    "| a | b |\n",
    "e.g. ",
    "A. ",
    "?",
    "a? ",
    "PMID 1, ",
    "<think>",
    "<think></think>",
    "sorry ",
    "please ",
    "Yes, ",
    "However, ",
    "your doctor, ",
    "the context ",
    "'",
    "a: ",
    "a; ",
    "\x00",
    "**a** ",
    "<b ",
    "[a](",
    "\u3010",
    "\u30104:0\u2020s\u3011",
    "uses ",
    "causes iron ",
    "which ",
    "before they ",
    "iron\n\n",
    "  - a:\n",
    "iron (Smith et al., 2020) ",
    "\u00b2",
    "et al. ",
    "\u00a9 2024 ",
    "I don't know ",
    "ca. 6 h ",
    "hepatitis B. ",
]


def seconds(text):
    begun = time.process_time()
    read_answer(text)
    return time.process_time() - begun


@pytest.mark.parametrize("piece", PIECES, ids=ascii)
def test_four_times_the_length_takes_four_times_as_long(piece):
    """Reading that grows with the square of the length takes sixteen times as long; nine is halfway."""
    short, long = (f"{piece * (length // len(piece))}Iron helps." for length in (SHORT, LONG))
    bound = 9 * min(seconds(short), seconds(short)) + 0.05
    # A pause of the machine may hit a reading, hardly two.
    assert seconds(long) <= bound or seconds(long) <= bound
