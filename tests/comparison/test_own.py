"""Changes of own columns: their counts, gates, requests, and what a report tells of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.comparison import OwnComparison, diff
from geolookup.comparison.report import lines
from geolookup.errors import DiffError
from geolookup.reports.changes import change_section
from geolookup.reports.difference import difference
from tests.cli.program import run
from tests.conftest import build_at
from tests.reports.shown import of_sections

_COLUMNS = 'site = { type = "text", private = true }\ntags = "texts"\n'
#: By side: its columns, and its rows.
_SIDES = {
    "old": (
        _COLUMNS + 'risk = "integer"\nold_only = "boolean"',
        r"""network,own.site,own.risk,own.old_only,own.tags
10.0.0.0/24,HQ,,,
8.8.8.0/24,A,5,true,"[""a\nb"", ""c""]"
9.9.9.0/24,,,,c
2a00::/63,A,,,
fd00::/64,ULA,,,
""",
    ),
    "new": (
        _COLUMNS + 'risk = "text"\nnew_only = "texts"',
        """network,own.site,own.risk,own.new_only,own.tags
10.0.0.0/25,HQ,,,
10.0.0.128/25,Lab,,,
8.8.8.0/25,A,5,x,"[""a"", ""b"", ""c""]"
8.8.8.128/25,A,6,,"[""a"", ""b"", ""c""]"
9.9.9.0/24,,,,c
2a00::/65,B,,,
2a00:0:0:1::/64,A,,,
fd00::/64,,7,,
""",
    ),
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    built = []
    for name, (columns, rows) in _SIDES.items():
        recipe = f'[dataset]\nname = "x"\n[columns]\n{columns}\n'
        source = '[[source]]\nformat = "csv"\npath = "rows.csv"\n'
        built.append(
            build_at(tmp_path_factory.mktemp(name), {"rows.csv": rows}, recipe + source)[0]
        )
    return built[0], built[1]


def test_columns_added_removed_and_retyped_are_told(pair: tuple[Path, Path]) -> None:
    result = diff(*pair)
    assert isinstance(result, OwnComparison)
    assert result.columns.added == ["own.new_only"]
    assert result.columns.removed == ["own.old_only"]
    assert result.columns.retyped == {"own.risk": ("integer", "text")}
    fields = result.parts["ipv4"].fields
    assert (fields["own.site"].old, fields["own.site"].changed) == (512, 128)
    # A column that only one dataset has is unknown in the other.
    assert fields["own.old_only"].null_gained == 256
    assert fields["own.new_only"].null_lost == 128
    # Values of columns of several types are compared as texts.
    assert fields["own.risk"].changed == 128
    # Lists whose texts hold separators differ.
    assert (fields["own.tags"].old, fields["own.tags"].changed) == (512, 256)
    # IPv6 in networks of /64: half of the first is B, half unknown; the second is the same.
    site = result.parts["ipv6"].fields["own.site"]
    assert (site.old, site.new, site.changed, site.null_gained) == (3, 1.5, 0.5, 1.5)
    # Special-purpose space is no part of what the contract's fields cover.
    assert result.parts["ipv4"].coverage.old == 0
    report = "\n".join(lines(result))
    assert "own columns added    own.new_only\n" in report
    assert "own columns removed  own.old_only\n" in report
    assert "own column retyped   own.risk: integer in old, text in new\n" in report
    assert "  own.site" in report
    section = change_section(difference(*pair))
    assert "Own columns added: own.new_only." in section.values["note"]
    assert "Nothing has changed" not in section.values["note"]
    assert "Own columns of IPv4 addresses" in of_sections([section])


def test_gates_name_own_columns(pair: tuple[Path, Path]) -> None:
    old, new = map(str, pair)
    assert not geolookup.diff(old, new, fail_if=["ipv4.changed.own.site > 25%"]).failed
    (verdict,) = geolookup.diff(old, new, fail_if=["ipv4.changed.own.site > 20%"]).failed
    assert verdict.measured == {"ipv4.changed.own.site": 0.25}
    assert geolookup.diff(old, new, fail_if=["null_gained.own.old_only > 0"]).failed
    with pytest.raises(DiffError, match=r"no metric 'changed\.own\.sit'"):
        geolookup.diff(old, new, fail_if=["changed.own.sit > 2%"])
    done = run("diff", old, new, "--json", "--fail-if", "changed.own.site > 2%")
    assert done.returncode == 1
    assert json.loads(done.stdout)["columns"]["retyped"] == {"own.risk": ["integer", "text"]}


def test_requests_weigh_own_columns(pair: tuple[Path, Path], tmp_path: Path) -> None:
    asked: list[Any] = ["8.8.8.1"] * 3 + ["8.8.8.200", "::ffff:10.0.0.200", "10.0.0.1", "127.0.0.1"]
    path = tmp_path / "asked.csv"
    path.write_text("ip\n" + "\n".join(map(str, asked)) + "\n", encoding="utf-8")
    result = diff(*pair, traffic=path)
    assert result.requests is not None
    assert (result.requests.total, result.requests.private) == (7, 3)
    part = result.parts["all"]
    # Requests of private addresses count: one of 10.0.0.1, and one of 10.0.0.200, now another site.
    assert (part.fields["own.site"].old, part.fields["own.site"].changed) == (6, 1)
    assert part.coverage.old == 0
    assert part.fields["own.new_only"].null_lost == 3
