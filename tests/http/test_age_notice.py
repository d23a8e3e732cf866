"""The server's workers log the notice about data older than 180 days."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.http.serving import Store, serving
from tests.store.numbered import numbered
from tests.store.test_age import days_ago


@pytest.mark.parametrize(
    ("days", "options", "told"),
    [(200, (), True), (200, ("--no-age-notice",), False), (170, (), False)],
)
def test_the_log_tells_of_old_data(
    own_store: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    days: int,
    options: tuple[str, ...],
    told: bool,
) -> None:
    monkeypatch.delenv("GEOLOOKUP_AGE_NOTICE")
    dataset = str(numbered(tmp_path / "data", 1, date=days_ago(days)))
    with serving(own_store, tmp_path, "--dataset", dataset, *options) as server:
        server.until("answering from generation")
        log = server.output.read_text(encoding="utf-8")
    assert log.count(f"the age of the data is {days} days") == int(told)
