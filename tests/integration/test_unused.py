"""A run that uses none of it: no file, no line, no module but that of the plugin."""

import sys


def test_no_file_no_line_no_module(pytester, workers):
    pytester.makepyfile(
        """
        import sys

        def test_plain():
            assert 1 + 1 == 2

        def test_modules():
            ours = {name for name in sys.modules if name.startswith("pytest_medfaith.")}
            assert ours == {"pytest_medfaith.plugin"}
            assert "numpy" not in sys.modules
        """
    )
    # Each of these plugins leaves files, lines or modules behind.
    left_out = ("cacheprovider", "hypothesispytest", "randomly", "rerunfailures")
    options = (f"-pno:{name}" for name in left_out)
    # a new Python: a forked run has modules loaded already
    result = pytester.run(sys.executable, "-m", "pytest", "-v", *options, *workers)
    result.assert_outcomes(passed=2)
    assert [
        line
        for line in result.outlines
        if "medfaith" in line and not line.startswith(("plugins:", "rootdir:", "platform ", "cachedir:"))
    ] == []
    left = {path.name.partition("-")[0] for path in pytester.path.iterdir()}
    assert left - {"runpytest", "stdout", "stderr", "__pycache__"} == {
        "test_no_file_no_line_no_module.py"
    }  # the others are pytester's
