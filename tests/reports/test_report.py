"""``geolookup report``: one page, its pictures, and what hostile names cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.datasets import SMALL

pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")


def _report(*arguments: str) -> str:
    from geolookup.cli import _program

    done = CliRunner().invoke(_program, ["report", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


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
    named, unnamed = tmp_path / "named.html", tmp_path / "unnamed.html"
    _report(str(SMALL), "--output", str(named))
    monkeypatch.setenv("GEOLOOKUP_DATASET", str(SMALL))
    _report("--output", str(unnamed))
    assert unnamed.read_bytes() == named.read_bytes()
