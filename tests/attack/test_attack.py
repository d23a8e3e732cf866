"""A small run of one attack; ``python -m tests.attack`` runs all, at length."""

from __future__ import annotations

import pytest

from tests.attack import exact_admission
from tests.attack.__main__ import NAMES, main
from tests.skips import needs


@pytest.mark.long
@needs("granian", "redis")
def test_no_request_more_than_rate_and_quota_though_workers_are_killed() -> None:
    exact_admission.attack((2,))


def test_attacks_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == NAMES
