"""Nothing is kept under the home directory, and nothing could be sent: onnxruntime's telemetry is off."""

import os
import subprocess
import sys

SCRIPT = """
from pytest_medfaith.models.onnx import embed_texts
assert embed_texts(["Iron helps."]).shape == (1, 384)
"""


def test_a_model_leaves_nothing_in_the_home_directory(tmp_path):
    hidden = ("ORT_DISABLE_TELEMETRY", "XDG_CACHE_HOME")
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    command = [sys.executable, "-c", SCRIPT]
    subprocess.run(command, env={**environment, "HOME": str(tmp_path)}, check=True, timeout=300)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
