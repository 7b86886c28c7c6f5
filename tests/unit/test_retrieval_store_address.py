"""The address of a store is read, or refused without telling the password that it may hold."""

import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.retrieval.stores.address import (
    is_store,
    parse_address,
    refuse_password,
    split_reranker,
)
from pytest_medfaith.retrieval.stores.base import Only

SECRET = "pa-s3cret"  # noqa: S105


@pytest.mark.parametrize(
    ("given", "parts", "shown"),
    [
        (
            "qdrant+http://localhost/a-b_1",
            ("qdrant", "http", "localhost", 6333, "", "a-b_1"),
            "qdrant+http://localhost:6333/a-b_1",
        ),
        (
            "store:qdrant+https://q.example.org:443/n",
            ("qdrant", "https", "q.example.org", 443, "", "n"),
            "qdrant+https://q.example.org:443/n",
        ),
        ("qdrant+file:///srv/q/n", ("qdrant", "file", "", 6333, "/srv/q", "n"), "qdrant+file:///srv/q/n"),
        ("qdrant+file://./q/n", ("qdrant", "file", ".", 6333, "./q", "n"), "qdrant+file://./q/n"),
        (
            "pgvector://me@[::1]:5433/rag/n",
            ("pgvector", "", "::1", 5433, "rag", "n"),
            "pgvector://[::1]:5433/rag/n",
        ),
        ("pgvector:///rag/n", ("pgvector", "", "", 5432, "rag", "n"), "pgvector:///rag/n"),
        (
            "opensearch+https://me@h/n",
            ("opensearch", "https", "h", 9200, "", "n"),
            "opensearch+https://h:9200/n",
        ),
    ],
)
def test_an_address_is_read_and_shown_without_its_user(given, parts, shown):
    found = parse_address(given)
    assert (found.kind, found.transport, found.host, found.port, found.place, found.name) == parts
    assert str(found) == shown
    assert (found.search, found.only) == ("vector", Only())


def test_search_sources_and_years_are_asked_for_behind_the_question_mark():
    found = parse_address(
        "qdrant+http://h/n?search=words&source=pubmed&source=Text%20books&from=2001&to=2024"
    )
    assert found.search == "words"
    assert found.only == Only(("pubmed", "Text books"), 2001, 2024)
    assert str(found.only) == "source pubmed or Text books, from 2001, to 2024"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("http://h/n", r"begins with 'http'; expected qdrant\+http://HOST:6333/NAME"),
        ("localhost", "begins with 'no scheme'"),
        ("qdrant+http://h:port/n", "cannot be read"),
        ("qdrant+http://h/Upper", "ends with 'Upper'; expected the name of a store"),
        ("qdrant+http://h/", "ends with ''"),
        ("qdrant+http://h/a/n", "has a path"),
        ("qdrant+http:///n", "has no host"),
        ("qdrant+file://host/q/n", "names no folder"),
        ("qdrant+file:///n", "names no folder"),
        ("pgvector://h/n", "names no database"),
        ("pgvector://h/a/b/n", "names no database"),
        ("qdrant+http://h/n?source=", "asks for source ''"),
        ("qdrant+http://h/n?from=21", "asks for from '21'"),
        ("qdrant+http://h/n?k=3", "asks for 'k'; expected search=vector"),
        ("qdrant+http://h/n?search=both", "asks for search 'both'"),
        ("qdrant+http://h/n?from=2020&to=2010", "years from 2020 to 2010; expected the earlier"),
        ("env:MEDFAITH_NO_SUCH", "the address in MEDFAITH_NO_SUCH, which is not set"),
    ],
)
def test_another_form_is_one_message(given, message, monkeypatch):
    monkeypatch.delenv("MEDFAITH_NO_SUCH", raising=False)
    with pytest.raises(DataError, match=message):
        parse_address(given)


PASSWORDS = [
    f"pgvector://me:{SECRET}@h/rag/n",
    f"qdrant+http://:{SECRET}@h/n",
    f"opensearch+https://me:{SECRET}/x@h/n",
    f"me:{SECRET}@h/n",
    f"postgresql://me:{SECRET}@h/n",
]


@pytest.mark.parametrize("given", PASSWORDS)
def test_a_password_is_refused_and_not_told(given):
    for refuse, error in (
        (parse_address, DataError),
        (lambda text: refuse_password(f"store:{text}"), ValueError),
    ):
        with pytest.raises(error, match=r"holds a password.*env:VARIABLE") as caught:
            refuse(given)
        assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    "given", [*PASSWORDS, f"qdrant+http://me:{SECRET}@h/N", f"pgvector://me:{SECRET}@h/n"]
)
def test_what_an_environment_variable_holds_is_never_told(given, monkeypatch):
    monkeypatch.setenv("GUIDELINES", given)
    try:
        found = parse_address("store:env:GUIDELINES?from=2001")
    except DataError as error:
        assert SECRET not in str(error)  # noqa: PT017 - some of them are addresses, and some are not
        assert "the address in GUIDELINES" in str(error)  # noqa: PT017
    else:
        assert SECRET in found.secrets
        assert found.only.from_year == 2001
        assert SECRET not in f"{found} {found!r}"


def test_a_variable_may_hold_a_search_and_a_name_may_add_one(monkeypatch):
    monkeypatch.setenv("GUIDELINES", "qdrant+http://h/n?source=a")
    assert parse_address("env:GUIDELINES?source=b").only.sources == ("a", "b")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("rrf", ("rrf", None)),
        ("rrf+fast", ("rrf", "fast")),
        ("rrf+", ("rrf", "")),
        ("my_app.search:make+fast", ("my_app.search:make", "fast")),
        ("store:qdrant+http://h/n", ("store:qdrant+http://h/n", None)),
        ("store:qdrant+http://h/n?from=2001+org/model", ("store:qdrant+http://h/n?from=2001", "org/model")),
        ("store:env:X+fast", ("store:env:X", "fast")),
    ],
)
def test_a_reranker_is_told_from_the_plus_of_an_address(name, parts):
    assert split_reranker(name) == parts
    assert is_store(name) == name.startswith("store:")
