"""A build of an index is killed at any moment; the next build goes on with what was finished."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("killed_index.py")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the tries are forks")
def test_an_index_killed_at_any_step_is_finished_and_the_same(tmp_path):
    command = [sys.executable, str(SCRIPT), str(tmp_path), "hnsw"]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["wrong"] == {}
    shards = [f"shard-{i:05d}.npy" for i in range(3)]
    assert found["files"] == ["hnsw.faiss", "hnsw.json", "index.json", *shards]
    assert found["steps"] >= 3 + 2 * len(found["files"])  # batches; each file is synced and renamed
