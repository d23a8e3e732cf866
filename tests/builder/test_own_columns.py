"""Own columns of sources: the report of private space."""

from __future__ import annotations

from pathlib import Path

from tests.builder.building import recipe
from tests.conftest import build_at


def test_the_report_counts_rows_in_special_purpose_space(tmp_path: Path) -> None:
    columns = 'site = { type = "text", private = true }\nrisk = "integer"'
    files: dict[str, str | bytes] = {
        "a.csv": "network,site,risk\n10.0.0.0/31,a,1\n8.8.8.0/24,b,2\n",
        "b.csv": "network,site\n10.1.0.0/32,b\n",
        "c.csv": "network,risk\n10.2.0.0/32,3\n8.8.4.0/24,4\n",
    }
    sources = (f'path = "{name}"' for name in files)
    _, report = build_at(tmp_path, files, f"[columns]\n{columns}\n{recipe(*sources)}")
    lines = [
        [line for line in source.lines() if " in special" in line] for source in report.sources
    ]
    kept = "addresses in special-purpose space, kept for own.site"
    assert lines == [
        [
            "  clipped     1 row, 2 addresses in special-purpose space",
            f"  private     1 row, 2 {kept}",
        ],
        ["  private     1 row, 1 address in special-purpose space, kept for own.site"],
        ["  clipped     1 row, 1 address in special-purpose space"],
    ]
    assert [source.used for source in report.sources] == [2, 1, 1]
    assert report.coverage["own.site"] == {"ipv4": 259, "ipv6": 0}
