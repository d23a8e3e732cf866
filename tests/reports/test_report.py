"""``geolookup report``: one page, its pictures, and what hostile names cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.comparison.conftest import old_and_new
from tests.datasets import SMALL
from tests.reports.pages import called
from tests.skips import needs

pytestmark = needs("jinja2", "vl_convert", "PIL")


def _report(*arguments: str) -> str:
    done = called("report", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_the_page_and_its_pictures_are_written(tmp_path: Path) -> None:
    output, png = tmp_path / "report.html", tmp_path / "png"
    printed = _report(str(SMALL), "--output", str(output), "--png", str(png))
    assert str(output) in printed
    assert "ipv4.arrow" in output.read_text(encoding="utf-8")
    assert (png / "file-sizes.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_name_the_page_shows_what_lookups_answer_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, new = old_and_new()
    named, unnamed = tmp_path / "named.html", tmp_path / "unnamed.html"
    _report(str(new), "--output", str(named))
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(new))
    _report("--output", str(unnamed))
    assert unnamed.read_bytes() == named.read_bytes()
