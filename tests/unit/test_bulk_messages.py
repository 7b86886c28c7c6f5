"""Messages between the command and the process that imports Ray."""

import io
import json
from pathlib import Path

import pytest

from pytest_medfaith.bulk.blocks import Block
from pytest_medfaith.bulk.cases import CaseWork, Variant
from pytest_medfaith.bulk.messages import plain, receive, send, value_of
from pytest_medfaith.bulk.ray_bridge import Job
from pytest_medfaith.commands.bulk_check import CheckWork
from pytest_medfaith.config import SliceSettings
from pytest_medfaith.run.options import Options

BLOCK = Block(index=0, offset=0, length=12, line=1, rows=1, digest="a1")
SETTINGS = SliceSettings(name="kb", cases=Path("gold.jsonl"))
WORKS = [
    CheckWork(
        checker="fast", rules_off=("numbers",), root=Path("/p"), name="é.jsonl", expected={"a": [1, {}]}
    ),
    CaseWork(
        root=Path("/p"),
        options=Options(k=(3, 5), retrieval={"k1": 1.2, "fused": ("bm25",)}, report=Path("run")),
        variants=(Variant(settings=SETTINGS, has_answer=True, place=0),),
    ),
]


@pytest.mark.parametrize("work", WORKS, ids=["check", "evaluate"])
def test_a_job_arrives_as_it_was_sent(work):
    job = Job(address="auto", workers=None, work=work, path=Path("/p/rows"), name="rows", blocks=[BLOCK])
    pipe = io.BytesIO()
    send(pipe, "job", job)
    send(pipe, "results", 7, body=b"{}\n\x00")
    pipe.seek(0)
    assert receive(pipe) == ("job", [job], b"")
    assert receive(pipe) == ("results", [7], b"{}\n\x00")
    with pytest.raises(EOFError):
        receive(pipe)


@pytest.mark.parametrize(
    "written",
    [
        b"",
        b"Ray says something\n",
        b"[1]\n",
        b'{"kind": "said"}\n',
        b'{"kind":"results","told":[0],"bytes":9}\nabc',
    ],
)
def test_what_is_no_whole_message_is_the_end(written):
    with pytest.raises(EOFError):
        receive(io.BytesIO(written))


@pytest.mark.parametrize("module", ["subprocess", "os", "pytest_medfaithless.x"])
def test_no_class_of_another_package_is_made(module):
    row = {"kind": "job", "told": [{"record": [module, "Popen", {"args": "true"}]}], "bytes": 0}
    with pytest.raises(TypeError, match="is no dataclass of pytest_medfaith"):
        receive(io.BytesIO(json.dumps(row).encode() + b"\n"))


def test_a_function_of_this_package_is_no_record():
    with pytest.raises(TypeError, match="is no dataclass"):
        value_of({"record": ["pytest_medfaith.bulk.messages", "send", {}]})


def test_a_value_that_cannot_be_sent_is_named():
    with pytest.raises(TypeError, match="a set cannot be sent"):
        plain({"a": {1}})
