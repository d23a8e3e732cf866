"""``geolookup report --against`` and ``--truth``: their numbers equal the numbers of lookups and
scores."""

from __future__ import annotations

import csv
import io
import re
import zlib
from base64 import b64decode
from dataclasses import asdict
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import geolookup
from geolookup.dataset.intervals import Addresses
from geolookup.reports import changed_ranges as ranges_module
from geolookup.reports.changed_ranges import changed_ranges, ranges_section
from geolookup.reports.changes import change_section, moved_densities, moved_section
from geolookup.reports.difference import Difference, change_view, difference
from geolookup.reports.section import Section, Table, without_zeros
from geolookup.reports.truth import truth_section
from tests.cli.program import run
from tests.comparison import oracle
from tests.comparison.conftest import dataset, old_and_new
from tests.datasets import SMALL
from tests.reports.shown import check_changes, check_truth, of_sections
from tests.skips import names_in_utf8, needs

OLD, NEW = old_and_new()
#: Where the map is compared with lookups: first addresses, and how many from there on.
_MAPPED = {
    4: [("8.8.7.250", 270), ("9.9.9.0", 257), ("10.255.255.250", 12), ("11.0.0.0", 257)],
    6: [("2a00::", 3), ("2a00:0:7fff:ffff:ffff:ffff:ffff:fffe", 4), ("fd00::", 2)],
}


@pytest.fixture(scope="module")
def changed() -> Difference:
    return difference(OLD, NEW)


def test_the_numbers_are_those_of_the_comparison(changed: Difference) -> None:
    check_changes(of_sections([change_section(changed)]), changed)


def test_every_address_of_the_map_has_the_kind_that_lookups_show(changed: Difference) -> None:
    with geolookup.open(OLD) as old, geolookup.open(NEW) as new:
        for family, windows in _MAPPED.items():
            view = change_view(changed, family)
            texts = [str(ip_address(first) + at) for first, size in windows for at in range(size)]
            addresses = Addresses.of(family, (int(ip_address(text)) for text in texts))
            labels = [view.labels[at] for at in view.values[view.starts.search(addresses) - 1]]
            seen = [oracle.seen(old, new, text) for text in texts]
            kinds = [entry and (oracle.kind(entry) or "unknown") for entry in seen]
            assert labels == [kind or "special-purpose" for kind in kinds]


def test_places_have_what_moved_there_and_from_there(changed: Difference) -> None:
    actual = {item.name: item for item in moved_densities(changed)}

    def places(name: str) -> list[tuple[float, ...]]:
        entry = actual[name]
        return list(zip(entry.latitudes, entry.longitudes, entry.weights, strict=True))

    assert places("ipv6-moved-from-here") == [(48.86, 2.35, 2**31)]
    assert places("ipv6-moved-here") == [(52.52, 13.41, 2**31)]
    assert places("ipv4-moved-here") == [(45.42, -75.7, 64)]
    [(latitude, longitude, count)] = places("ipv4-moved-from-here")
    assert count == 64
    assert np.isnan([latitude, longitude]).all()
    assert {name: item.title for name, item in actual.items()} == {
        f"ipv{family}-moved-{way.replace(' ', '-')}": f"IPv{family} {unit} that moved {way}"
        for family, unit in ((4, "addresses"), (6, "/64 networks"))
        for way in ("here", "from here")
    }


def test_the_file_has_the_ranges_that_lookups_tell_apart(changed: Difference) -> None:
    section = ranges_section(changed)
    assert section is not None
    rows = list(csv.DictReader(io.StringIO(_unpacked(section))))
    with geolookup.open(OLD) as old, geolookup.open(NEW) as new:
        for row in rows:
            for end in (row["first"], row["last"]):
                seen = oracle.seen(old, new, end)
                assert seen is not None
                assert oracle.kind(seen) == row["change"]
                for side, answer in (("before", seen.old), ("after", seen.new)):
                    expected = [answer[path] for path in _IN_FILE.values()]
                    assert [row[f"{name}_{side}"] or None for name in _IN_FILE] == [
                        None if value is None else str(value) for value in expected
                    ]
        # All that changed is in the file, and nothing else.
        listed = {
            int(a): int(b) for a, b in (map(ip_address, (r["first"], r["last"])) for r in rows)
        }
        for first, count in _MAPPED[4]:
            for at in range(count):
                address = int(ip_address(first)) + at
                seen = oracle.seen(old, new, str(ip_address(address)))
                differs = seen is not None and oracle.kind(seen) not in (None, "unchanged")
                assert any(a <= address <= b for a, b in listed.items()) == differs, address
    assert section.values["notes"] == [
        f"IPv{f}: all {sum((':' in r['first']) == (f == 6) for r in rows)} ranges." for f in (4, 6)
    ]


_IN_FILE = {"country": "location.country_code", "region": "location.region_name",
            "city": "location.city_name", "asn": "network.asn"}  # fmt: skip


def _unpacked(section: Section) -> str:
    return zlib.decompress(b64decode(str(section.data["changed-ranges"])), -15).decode()


@names_in_utf8
@pytest.mark.long
def test_the_page_leads_to_the_rows(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    rows, page = tmp_path / "sub" / "ä b.jsonl", tmp_path / "report.html"
    done = run(
        "report", str(NEW), "--against", str(OLD), "--rows", str(rows), "--output", str(page)
    )
    count = len(rows.read_text(encoding="utf-8").splitlines())
    assert done.stderr == f"geolookup: {rows}: {count} rows\n"
    assert '<a href="sub/%C3%A4%20b.jsonl">sub/ä b.jsonl</a>' in page.read_text(encoding="utf-8")


def test_the_largest_ranges_stay(changed: Difference, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges_module, "MOST", 2)
    section = ranges_section(changed)
    assert section is not None
    sizes = {family: np.sort(changed_ranges(changed, family).weights)[::-1] for family in (4, 6)}
    assert len(sizes[4]) > 2
    share = f"{sizes[4][:2].sum() / sizes[4].sum():.2%}".replace("%", " %")
    assert section.values["notes"][0] == (
        f"IPv4: the 2 largest of {len(sizes[4])} ranges, {share} of the addresses that changed."
    )
    monkeypatch.setattr(ranges_module, "LIMIT", 200)  # fewer than two fit
    limited = ranges_section(changed)
    assert limited is not None
    assert len(_unpacked(limited).splitlines()) < len(_unpacked(section).splitlines())


def test_rows_and_columns_of_zeros_go() -> None:
    head = ("Source", "kind", "country", "region", "km")
    rows = [("a", "x", "1.00 %", "0.00 %", "0.0"), ("b", "y", "0.00 %", "0.00 %", "0.0")]
    rows.append(("c", "x", "0.00 %", "0.00 %", "2.5"))
    table = without_zeros(Table("T", head, rows, words=(1,), saved_only=(3, 4)))
    assert table.head == ["Source", "kind", "country", "km"]
    assert table.rows == [["a", "x", "1.00 %", "0.0"], ["c", "x", "0.00 %", "2.5"]]
    assert (table.words, table.saved_only) == ([1], [3])


def test_a_dataset_against_itself_has_not_changed() -> None:
    changed = difference(SMALL, SMALL)
    section = change_section(changed)
    assert section.values["note"].startswith("Nothing has changed:")
    assert section.values["charts"] == []
    tables = of_sections([section])
    assert [row[0] for row in tables["By kind of change"]] == ["unchanged"]
    assert not [caption for caption in tables if caption.startswith(("Moved", "Distance"))]
    assert not [caption for caption in tables if "by their source" in caption]
    assert moved_section(changed) is None
    assert ranges_section(changed) is None


def test_many_flows_and_networks_are_cut(tmp_path: Path) -> None:
    """The tables list 100 flows and 10 networks, the greatest first; others only count."""
    codes = ["AT", "BE", "BG", "CA", "CH", "CZ", "DE", "DK", "EE", "ES", "FI"]
    rows = "network,country_code,asn,asn_organization\n"
    old, new = (dataset(tmp_path / name, world=rows + "".join(
        f"20.{at}.{to}.0/{24 + to % 3},{codes[at] if name == 'old' else codes[to]},{to},N{to}\n"
        for at in range(11) for to in range(11)
    )) for name in ("old", "new"))  # fmt: skip
    tables = of_sections([change_section(difference(old, new))])
    flows = tables["IPv4 addresses that changed country"]
    sizes = sorted(
        (256 >> to % 3 for at in range(11) for to in range(11) if at != to), reverse=True
    )
    assert [int(row[2]) for row in flows] == sizes[:100]
    assert flows[0][3] == f"{sizes[0] / sum(sizes):.2%}".replace("%", " %")
    movers = tables["Networks with the most IPv4 addresses whose location moved"]
    assert [int(row[1].replace(",", "")) for row in movers] == [*[2560] * 4, *[1280] * 4, 640, 640]
    assert movers[0][0] == "no AS N0"
    assert movers[0][2:] == [f"{2560 / sum(sizes):.2%}".replace("%", " %"), "90.91 %"]


@needs("jinja2", "vl_convert", "PIL")
@pytest.mark.long
def test_a_failed_gate_is_status_1_with_a_page(tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    gates = ("--fail-if", "ipv6.country_moved > 2%", "--fail-if", "ipv4.km_max > 800")
    done = run("report", str(NEW), "--output", str(output), "--against", str(OLD), *gates)
    assert done.returncode == 1, done.stderr
    plain = re.sub(r"<[^>]*>", " ", output.read_text(encoding="utf-8"))
    assert re.search(r"ipv6.country_moved &gt; 2%\s+ipv6.country_moved is 50 %\s+fails", plain)
    assert re.search(r"ipv4.km_max &gt; 800\s+ipv4.km_max is 0 km\s+passes", plain)


FEED = "8.8.8.0/24,US,,Boston,\n9.9.9.0/24,CH,CH-BE,Bern,\n2a00::/32,FR,,Paris,\n"
LIST = "ip,country,city,latitude,longitude\n8.8.8.130,US,Boston,42.36,-71.06\n8.8.8.7,US,,42,-71\n"


def truth_files(folder: Path) -> dict[str, str]:
    """Write a geofeed and a list of addresses; returns their paths by name."""
    for name, text in (("feed.csv", FEED), ("list.csv", LIST)):
        (folder / name).write_text(text, encoding="utf-8")
    return {name: str(folder / name) for name in ("feed.csv", "list.csv")}


def scored_parts(result: Any) -> dict[str, Any]:
    """The parts of a score of one dataset that have a truth, as JSON has them."""
    parts = asdict(result)["datasets"][0]["parts"]
    return {name: part for name, part in parts.items() if part["score"]["of"]}


def test_the_numbers_are_those_of_score(tmp_path: Path) -> None:
    files = truth_files(tmp_path)
    for names in (["feed.csv"], ["list.csv"], ["list.csv", "feed.csv"]):
        report = geolookup.score(NEW, truth=[files[name] for name in names])
        section = truth_section(report)
        tables = of_sections([section])
        check_truth(tables, scored_parts(report))
        assert [row[0] for row in tables["Files of the truth"]] == names
        assert ("Distance from the truth" in tables) == (names != ["feed.csv"])  # no coordinates
        assert "8.8.8.130" not in str(section.values)
