"""The start of a run, before the first test: its options are in range, and no old result is in its place."""

from __future__ import annotations

import pytest

from pytest_medfaith.run.hooks import only_shows, resources_of


def check_options(config: pytest.Config) -> None:
    """Finds out before the run whether its options are in range, and whether its files can be written.

    Raises:
        UsageError: they are not, or it cannot.
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
    """Takes away what an earlier run left where this run will write: it must not pass for this run's result.

    Raises:
        UsageError: a file cannot be written, or holds something else, such as what a slice reads.
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
