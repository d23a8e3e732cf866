"""The tiers of the suite, as a pytest plugin.

``pytest`` runs the quick tier: every rule, with few examples. ``pytest --long`` adds the tests
marked ``long`` (sweeps, soaks, load, kills). ``pytest --all`` also raises what ``scaled`` returns
and the number of examples that hypothesis draws.

Two runs can share the work: the first adds the tests that passed to the file ``$GEOLOOKUP_PASSED``,
the second leaves out those in the file of ``--except``. Runs of pytest that tests start do neither.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

Value = TypeVar("Value")

# The first example that hypothesis draws is the simplest one, such as a source without rows. With
# ``max_examples=2`` a test has a single example that says something.
settings.register_profile(
    "default",
    deadline=None,
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile("all", parent=settings.get_profile("default"), max_examples=100)


class _Tier:
    long = False
    full = False
    #: The file of the tests that passed; workers send their reports to the process that has it.
    passed = ""


def scaled(fast: int, full: int) -> int:
    """Return an amount of work: ``fast`` by default, ``full`` with ``--all``."""
    return full if _Tier.full else fast


def one_of_each(values: Iterable[Value], kind: Callable[[Value], Hashable]) -> list[object]:
    """Return values of a parameter: the first of each kind by default, all with ``--all``.

    A kind is a reason for which the test can fail: a schema, a format, a class of failure.
    """
    drawn: set[Hashable] = set()
    parameters: list[object] = []
    for value in values:
        repeated = kind(value) in drawn
        drawn.add(kind(value))
        parameters.append(pytest.param(value, marks=pytest.mark.long) if repeated else value)
    return parameters


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run long tests too")
    parser.addoption("--all", action="store_true", help="run long tests too, with full amounts")
    parser.addoption(
        "--random", action="store_true", help="draw other examples in each run (--hypothesis-seed)"
    )
    # Written with "=": pytest takes a path that stands alone for a place of tests.
    parser.addoption(
        "--except", dest="left_out", metavar="FILE", type=Path, help="leave out the tests in FILE"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: runs with --long or --all only")
    config.addinivalue_line("markers", "data: needs real data that is not part of the project")
    config.addinivalue_line("markers", "packet_filter: needs one in a network namespace")
    config.addinivalue_line("markers", "root: gives files to another user, or mounts")
    _Tier.full = config.getoption("--all")
    _Tier.long = _Tier.full or config.getoption("--long")
    # Taken out: neither workers nor the runs that tests start add to the file.
    _Tier.passed = os.environ.pop("GEOLOOKUP_PASSED", "")
    tier = settings.get_profile("all" if _Tier.full else "default")
    # The same examples in each run: a change does not fail because of an older bug.
    settings.register_profile("chosen", parent=tier, derandomize=not config.getoption("--random"))
    settings.load_profile("chosen")


def pytest_report_header() -> str:
    if _Tier.full:
        return "tier: all"
    return "tier: long" if _Tier.long else "tier: quick (--long, --all: the other tests too)"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect long tests in the quick tier, and the tests that an earlier run passed.

    They are not skipped: ``GEOLOOKUP_NO_SKIP`` would refuse that.
    """
    file = config.getoption("left_out")
    left_out = set(file.read_text(encoding="utf-8").splitlines()) if file else set()
    selected = list[pytest.Item]()
    deselected = list[pytest.Item]()
    for item in items:
        is_left_out = item.nodeid in left_out or (
            not _Tier.long and item.get_closest_marker("long") is not None
        )
        (deselected if is_left_out else selected).append(item)
    config.hook.pytest_deselected(items=deselected)
    items[:] = selected


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if _Tier.passed and report.when == "call" and report.passed:
        with Path(_Tier.passed).open("a", encoding="utf-8") as passed:
            passed.write(f"{report.nodeid}\n")
