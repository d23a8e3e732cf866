"""Optional parts: a test is skipped if a package that it needs is not installed.

With ``GEOLOOKUP_NO_SKIP=1``, for an environment with all packages, this pytest plugin makes every
skip a failure.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Generator
from typing import Any

import pytest

NO_SKIP = os.environ.get("GEOLOOKUP_NO_SKIP") == "1"


class _Missing:
    """A stand-in for a module that is not installed: code outside of tests can use its names."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # inspection of a test module is not a use
            raise AttributeError(name)
        return self

    def __call__(self, *_args: object, **_options: object) -> Any:
        return self


def optional(name: str) -> Any:
    """Return a module, or a stand-in if it is not installed: ``needs`` skips the tests of it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return _Missing()


def needs(*names: str) -> pytest.MarkDecorator:
    """Skip a test if one of these modules is not installed; as ``pytestmark``, all of a module."""
    missing = [name for name in names if isinstance(optional(name), _Missing)]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


_only_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
#: For tests of file names that not every encoding of file names has.
names_in_utf8 = pytest.mark.skipif(
    sys.getfilesystemencoding() != "utf-8", reason="file names are not in UTF-8 here"
)


def as_root(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test of files of another user; ``.ci/run`` deselects these if it is not root."""
    marked: Callable[..., None] = pytest.mark.root(_only_root(test))
    return marked


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if NO_SKIP and report.skipped:
        _fail(report, item.nodeid)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail modules that skip as a whole: ``importorskip`` at their top."""
    report = yield
    if NO_SKIP and report.skipped:
        _fail(report, collector.nodeid)
    return report


def _fail(report: pytest.TestReport | pytest.CollectReport, node: str) -> None:
    report.outcome = "failed"
    report.longrepr = f"{node} was skipped, but everything should be installed: {report.longrepr}"
