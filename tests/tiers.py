"""The two tiers of the suite, as a pytest plugin.

``pytest`` runs the fast tier: every rule, with few examples. ``pytest --all`` adds the tests marked
``long`` (sweeps, soaks, load, kills) and raises what ``scaled`` returns and the number of examples
that hypothesis draws.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, settings

Value = TypeVar("Value")

settings.register_profile(
    "default",
    deadline=None,
    max_examples=20,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
settings.register_profile("all", parent=settings.get_profile("default"), max_examples=100)


class _Tier:
    full = False


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
    parser.addoption("--all", action="store_true", help="run long tests too, with full amounts")
    parser.addoption(
        "--random", action="store_true", help="draw other examples in each run (--hypothesis-seed)"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "long: runs with --all only")
    config.addinivalue_line("markers", "data: needs real data that is not part of the project")
    config.addinivalue_line("markers", "packet_filter: needs one in a network namespace")
    _Tier.full = config.getoption("--all")
    tier = settings.get_profile("all" if _Tier.full else "default")
    # The same examples in each run: a change does not fail because of an older bug.
    settings.register_profile("chosen", parent=tier, derandomize=not config.getoption("--random"))
    settings.load_profile("chosen")


def pytest_report_header() -> str:
    return "tier: all" if _Tier.full else "tier: fast (--all runs the long tests too)"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the long tests in the fast tier: ``GEOLOOKUP_NO_SKIP`` would refuse a skip."""
    if _Tier.full:
        return
    long = [item for item in items if item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)
    items[:] = [item for item in items if not item.get_closest_marker("long")]
