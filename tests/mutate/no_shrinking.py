"""A pytest plugin for judging: hypothesis does not shrink a failing example."""

from __future__ import annotations

import pytest
from hypothesis import Phase, settings


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("judge", parent=settings(), phases=phases)
    settings.load_profile("judge")
