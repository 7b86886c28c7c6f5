"""What decides the numbers of a run."""

from pytest_medfaith.gates.entry import slice_signature
from pytest_medfaith.records import SliceRun
from pytest_medfaith.retrieval.encoders import load_encoder
from pytest_medfaith.run.collected import Collected
from pytest_medfaith.run.resources import Resources
from pytest_medfaith.run.signature import run_signature


def test_the_signature_names_the_encoders_of_the_rows_that_use_them(tmp_path):
    (tmp_path / "medfaith.toml").write_text('encoders = ["default", "medcpt"]\n')
    sparse, dense, fused = (
        SliceRun(slice="iron", retriever=name, checker="student", k=3) for name in ("bm25", "dense", "rrf")
    )
    signature = run_signature(Resources(root=tmp_path), Collected(), [sparse, dense, fused])
    named = {
        "default": load_encoder().signature,
        "medcpt": "ncbi/MedCPT-Query-Encoder|ncbi/MedCPT-Article-Encoder",
    }
    assert signature["encoders"] == {"dense": named, "rrf": named}
    assert slice_signature(dense, signature)["encoders"] == {"dense": named}
    assert slice_signature(sparse, signature)["encoders"] == {}
