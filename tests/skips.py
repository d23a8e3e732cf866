"""Where every optional part is installed, a skip is a failure, as a pytest plugin.

``GEOLOOKUP_NO_SKIP=1`` says that everything is installed.
"""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest

NO_SKIP = os.environ.get("GEOLOOKUP_NO_SKIP") == "1"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    # An expected failure is reported as a skip too.
    if NO_SKIP and report.skipped and not hasattr(report, "wasxfail"):
        _fail(report, item.nodeid)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A module skips as a whole where it is collected: ``importorskip`` at its top."""
    report = yield
    if NO_SKIP and report.skipped:
        _fail(report, collector.nodeid)
    return report


def _fail(report: pytest.TestReport | pytest.CollectReport, node: str) -> None:
    report.outcome = "failed"
    report.longrepr = f"{node} was skipped where nothing may be: {report.longrepr}"
