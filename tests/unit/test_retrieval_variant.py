"""Names of retrievers that hold settings."""

import pytest

from pytest_medfaith.errors import DataError
from pytest_medfaith.retrieval.settings import RetrievalSettings
from pytest_medfaith.retrieval.signature import encoder_signatures
from pytest_medfaith.retrieval.variant import Variant, parse_variant, plain_name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("rrf", Variant(name="rrf")),
        ("rrf+fast", Variant(name="rrf+fast")),
        ("rrf[context=none]+fast", Variant(name="rrf+fast", context="none")),
        (
            "dense[encoder=medcpt=a,b; size=256; stride=64]",
            Variant(name="dense", encoder="medcpt=a,b", size=256, stride=64),
        ),
        ("my_app.search:make[size=9]", Variant(name="my_app.search:make", size=9)),
    ],
)
def test_a_name_is_read_and_written_back(name, expected):
    assert parse_variant(name) == expected
    assert str(expected) == name
    assert plain_name(name) == expected.name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rrf[", "has another form"),
        ("rrf[]", "holds the setting ''"),
        ("rrf[pool=3]", "holds the setting 'pool'; expected one of encoder, context, size, stride"),
        ("rrf[context=all]", "context=all; expected path, title, none"),
        ("rrf[size=0]", "size=0; expected a whole number of 1 or more"),
        ("rrf[size=x]", "size=x; expected a whole number"),
        ("rrf[size=8; stride=8]", "the stride 8 and the size 8; expected a size, and a smaller stride"),
        ("rrf[stride=8]", "the stride 8 and no size; expected a size"),
        ("rrf[size=8; size=9]", "says size twice"),
        ("rrf[encoder=]", "says encoder=; expected a value"),
    ],
)
def test_a_name_of_another_form_is_an_error(name, message):
    with pytest.raises(DataError, match=message):
        parse_variant(name)


def test_the_signature_names_the_encoder_of_the_name():
    settings = RetrievalSettings(encoders=("default",))
    assert list(encoder_signatures("dense[encoder=e5-base]", settings)) == ["e5-base"]
    assert encoder_signatures("bm25[encoder=e5-base]", settings) is None
