"""The kind of integer products is read from the processor's flags.

A machine that does not say its kind is called by its name.
"""

import platform

import pytest

from pytest_medfaith.models.onnx import processor_kernel


@pytest.mark.parametrize(
    ("flags", "kernel"),
    [
        ("fpu sse2 avx2 avx512bw avx512_vnni", "AVX-512 VNNI"),
        ("fpu avx2 avx512bw", "AVX-512"),
        ("fpu avx2 avx_vnni", "AVX2 VNNI"),
        ("fpu avx2", "AVX2"),
        ("fpu sse2", platform.machine()),
    ],
)
def test_the_kernel_follows_the_flags(tmp_path, flags, kernel):
    path = tmp_path / "cpuinfo"
    path.write_text(f"processor\t: 0\nflags\t\t: {flags}\nprocessor\t: 1\nflags\t\t: fpu\n")
    assert processor_kernel(path) == kernel


def test_a_machine_without_flags_is_called_by_its_name(tmp_path):
    (tmp_path / "cpuinfo").write_text("Features : neon\n")
    assert (
        processor_kernel(tmp_path / "cpuinfo") == processor_kernel(tmp_path / "absent") == platform.machine()
    )
