"""Unused is free: what the plugin's import brings along."""

import subprocess
import sys


def modules_after(code: str) -> set[str]:
    script = (
        f"import sys; import pytest; before = set(sys.modules); {code}; print('\\n'.join(set(sys.modules) - "
        f"before))"
    )
    return set(
        subprocess.run(
            [sys.executable, "-c", script], check=True, capture_output=True, text=True
        ).stdout.split()
    )


def test_the_plugin_brings_only_itself_and_the_standard_library():
    brought = modules_after("import pytest_medfaith.plugin")
    foreign = {name for name in brought if name.partition(".")[0] not in sys.stdlib_module_names}
    assert foreign == {"pytest_medfaith", "pytest_medfaith.plugin"}


def test_the_package_brings_only_itself():
    brought = modules_after("import pytest_medfaith")
    assert {name for name in brought if name.partition(".")[0] not in sys.stdlib_module_names} == {
        "pytest_medfaith"
    }


def test_every_public_name_loads_and_there_are_few():
    import pytest_medfaith

    assert len(pytest_medfaith.__all__) <= 22  # docs/deviations.md
    assert dir(pytest_medfaith) == sorted(pytest_medfaith.__all__) == pytest_medfaith.__all__
    for name in pytest_medfaith.__all__:
        assert getattr(pytest_medfaith, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error():
    import pytest

    import pytest_medfaith

    with pytest.raises(AttributeError, match="no attribute 'assert_nothing'"):
        pytest_medfaith.assert_nothing  # noqa: B018
