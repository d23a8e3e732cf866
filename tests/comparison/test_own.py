"""Changes of own columns: their counts, gates, requests, and what a report tells of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import build_at
from tests.internals.comparison import diff, diff_table
from tests.internals.comparison import report_lines as lines
from tests.internals.reports import change_section, difference
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
    assert result.columns is not None
    assert result.columns.added == ["own.new_only"]
    assert result.columns.removed == ["own.old_only"]
    assert result.columns.retyped == {"own.risk": ("integer", "text")}
    fields = result.parts["ipv4"].fields
    assert (fields["own.site"].old, fields["own.site"].changed) == (512, 128)
    # A column that only one dataset has is unknown in the other.
    assert fields["own.old_only"].null_gained == 256
    assert fields["own.new_only"].null_lost == 128
    # Values of columns of several types are compared as JSON: 5 and "5" differ.
    assert fields["own.risk"].changed == 256
    # Lists whose texts hold separators differ.
    assert (fields["own.tags"].old, fields["own.tags"].changed) == (512, 256)
    # IPv6 in networks of /64: half of the first is B, half unknown; the second is the same. The
    # counts 3 1.5 1.5 0.5 1.5 are whole numbers, at least 1.
    site = result.parts["ipv6"].fields["own.site"]
    counts = [site.old, site.new, site.both, site.changed, site.null_gained]
    assert counts == [3, 2, 2, 1, 2]
    # Special-purpose space is no part of what the contract's fields cover.
    assert result.parts["ipv4"].coverage.old == 0
    report = "\n".join(lines(result))
    assert "Own columns added: own.new_only.\n" in report
    assert "Own columns removed: own.old_only.\n" in report
    assert "The type of own.risk was integer and is text.\n" in report
    assert "  own.site" in report
    section = change_section(difference(*pair))
    assert "Own columns added: own.new_only." in section.values["note"]
    fields_of_ipv4 = of_sections([section])["Fields: IPv4 addresses"]
    assert ["own.site", "0.00 %", "0.00 %", "25.00 %"] in fields_of_ipv4
    rows = diff_table(*pair).read_all()
    assert rows["own_old_only_after"].type == rows["own_old_only_before"].type
    assert rows["own_new_only_after"].type == rows["own_new_only_before"].type
