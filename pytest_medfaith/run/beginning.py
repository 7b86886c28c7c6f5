"""The start of a run: options are checked, and files of an earlier run are removed, before the first test."""

from __future__ import annotations

import pytest

from pytest_medfaith.run.hooks import only_shows, resources_of


def check_options(config: pytest.Config) -> None:
    """Checks that the options are in range and that the files they name can be written.

    Raises:
        UsageError: an option is out of range, or a file cannot be written.
    """
    from pytest_medfaith.cards.run_folder import check_writable
    from pytest_medfaith.errors import MedfaithError
    from pytest_medfaith.gates.baseline import check_baseline_writable
    from pytest_medfaith.run.options import options_of
    from pytest_medfaith.run.shards import check_shard

    try:
        options = options_of(config)
        check_shard(options)
        if options.report and not config.option.collectonly:
            check_writable(options.report)
        if options.update_baseline and not config.option.collectonly:
            check_baseline_writable(resources_of(config).baseline_path)
    except MedfaithError as error:
        raise pytest.UsageError(str(error)) from None


def begin_files(config: pytest.Config) -> None:
    """Removes or marks what an earlier run wrote where this run will write, so that it does not pass for new.

    Raises:
        UsageError: a file cannot be written, or is no report, as where a slice reads it.
    """
    from pytest_medfaith.errors import MedfaithError

    if only_shows(config):
        return
    try:
        if config.getoption("--medfaith-ctrf"):
            from pytest_medfaith.run.ctrf import begin_ctrf

            begin_ctrf(config)
        if config.getoption("--medfaith-report"):
            _begin_report(config)
    except (MedfaithError, ValueError) as error:
        raise pytest.UsageError(str(error)) from None


def _begin_report(config: pytest.Config) -> None:
    from pytest_medfaith.cards.run_begin import begin_run, check_report_folder
    from pytest_medfaith.run.options import report_folder

    folder, resources = report_folder(config), resources_of(config)
    check_report_folder(folder, resources.settings, baseline=resources.baseline_path)
    begin_run(folder)
