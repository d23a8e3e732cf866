"""``geolookup map``: its figures equal single lookups, and nobody is found in its page."""

from __future__ import annotations

import base64
import ipaddress
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geolookup
from tests.cli.program import run
from tests.conftest import build_at
from tests.internals.files import KINDS, Summary, Traffic
from tests.internals.kernel import state_of
from tests.internals.reports import Section, groups_of, traffic_sections
from tests.internals.tables import Instants
from tests.skips import needs
from tests.tiers import scaled

MADE = needs("jinja2", "vl_convert", "PIL")
#: Addresses of the small dataset: their texts, numbers and bytes are not in a page by chance.
LOCATED = [
    *("68.181.17.93", "77.88.8.201", "89.207.57.131", "91.197.29.187", "91.223.73.171"),
    *("93.180.39.77", "128.10.143.29", "1.46.201.119", "1.128.77.203", "2.16.195.67"),
    *("2001:4860:4860::8888", "2606:4700:4700::1111", "::ffff:93.175.7.61"),
]
OTHERS = ["10.17.93.201", "fd12:3456:789a::4d5e", "300.17.93.201", "203.0.114.77"]
OTHERS_CAPTION = "Requests not in these charts"
RUSSIA, US, IRELAND, AUSTRALIA = "77.88.8.201", "68.181.17.93", "89.207.57.131", "1.128.77.203"
_SECOND = 1_695_914_436
_LINE = '{} - jdoe [28/Sep/2023:17:20:36 +0200] "GET /secret/{} HTTP/1.1" 200 1 "-" "Agent/1"\n'
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def _sections(
    engine: geolookup.Engine,
    addresses: Sequence[str],
    seconds: Sequence[int] = (),
    codes: Sequence[int] = (),
    *,
    top: int = 10,
    least: int = 5,
) -> dict[str, Section]:
    """Return the sections of a page by anchor; rows have no time or code if these are empty."""
    traffic = Traffic(state_of(engine))
    summary = Summary(engine, traffic)
    instants = Instants(np.array(seconds, np.int64), np.ones(len(seconds), bool))
    summary.add(
        pa.array(addresses, pa.string()),
        instants=instants if seconds else None,
        statuses=pa.array(codes, pa.int16()) if codes else None,
    )
    sections = traffic_sections(summary, traffic, engine.metadata, top, least)
    return {section.anchor: section for section in sections}


def _page(folder: Path, *args: str) -> str:
    """Return the page that the command writes, in this process."""
    output = folder / "map.html"
    done = run("map", *args, "--output", str(output))
    assert done.returncode == 0, done.stderr
    assert f"{output}: {output.stat().st_size:,} bytes\n" in done.stdout
    return output.read_text(encoding="utf-8")


def _rows(section: Section, name: str = "") -> dict[str, list[str]]:
    """Return the rows of the first chart, or of a chart or table by name, by their first cell."""
    values = section.values
    parts = {chart.name: chart for chart in values["charts"]}
    parts |= {table.caption: table for table in values["tables"]}
    rows = parts[name or next(iter(parts))].rows
    return {str(row[0]): [str(cell) for cell in row[1:]] for row in rows}


@given(
    addresses=st.lists(st.sampled_from([*LOCATED, *OTHERS]), max_size=60),
    top=st.integers(1, 6),
    least=st.integers(1, 8),
)
@settings(max_examples=scaled(12, 200))
def test_groups_are_those_of_single_lookups(
    sample: geolookup.Engine, addresses: list[str], top: int, least: int
) -> None:
    summary = Summary(sample)
    summary.add(pa.array(addresses, pa.string()))
    for kind, paths in KINDS.items():
        wanted, unknown = _counted(sample, addresses, paths)
        groups = groups_of(summary, kind, top, least)
        listed = [*groups.top, *groups.further, *groups.few]
        assert {group.members: group.addresses for group in listed} == wanted
        assert [group.addresses for group in listed] == sorted(wanted.values(), reverse=True)
        assert {group.members for group in groups.few} == {
            members for members, count in wanted.items() if count < least
        }
        assert len(groups.top) == min(top, len(wanted) - len(groups.few))
        assert groups.unknown == unknown


def _counted(
    engine: geolookup.Engine, addresses: list[str], paths: tuple[str, ...]
) -> tuple[Counter[tuple[Any, ...]], int]:
    result: Counter[tuple[Any, ...]] = Counter()
    unknown = 0
    for address in addresses:
        data: Any = engine.lookup(address)["data"]
        if data is not None:
            members = tuple(data[group].get(name) for group, name in map(_split, paths))
            result[members] += members[0] is not None
            unknown += members[0] is None
    return +result, unknown


def _split(path: str) -> list[str]:
    return path.split(".")


def test_groups_of_few_requests_are_only_in_sums(sample: geolookup.Engine) -> None:
    """The small counts are nowhere: not in a title, a note, a table, or the data of a chart."""
    counts = {US: 8009, RUSSIA: 613, IRELAND: 787, AUSTRALIA: 5003, "10.0.0.1": 401, "none": 907}
    addresses = [address for address, count in counts.items() for _ in range(count)]
    codes = [500 if at % 10 == 0 else 200 for at in range(len(addresses))]
    seconds = [(_SECOND // _DAY + at % 2) * _DAY for at in range(len(addresses))]
    sections = _sections(sample, addresses, seconds, codes, least=800 + 10)
    others = _rows(sections["whose"], OTHERS_CAPTION)
    small = {str(count) for count in (613, 787, 401)}
    shown = set(_values([section.values for section in sections.values()]))
    assert not {text for text in shown if any(re.search(rf"\b{n}\b", text) for n in small)}
    assert not {text for text in shown if re.search("Russia|Moscow|Dublin|Ireland", text)}
    assert others["2 further countries with fewer than 810 requests each"] == ["1,400"]
    assert dict(_figures(sections)) == {
        "Requests": "15,720", "Located": "14,412", "Unknown": "0", "Private": "fewer than 810",
        "Invalid": "907", "Distinct addresses": "fewer than 810",
    }  # fmt: skip
    assert set(_rows(sections["kinds"], "status")) == {
        "All requests",
        "United States",
        "Australia",
    }


def _figures(sections: Mapping[str, Section]) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value, _ in sections["summary"].values["figures"])


def _values(value: Any) -> Iterator[str]:
    """Yield the texts and numbers of values of sections: of tables, charts and their data."""
    if isinstance(value, str | int | float):
        yield f"{value:.0f}" if isinstance(value, float) else str(value).replace(",", "")
    elif isinstance(value, Mapping):
        yield from _values([item for name, item in value.items() if name != "arcs"])  # outlines
    elif isinstance(value, Iterable):
        for item in value:
            yield from _values(item)
    elif value is not None:
        fields = value.__dataclass_fields__
        yield from _values([getattr(value, name) for name in fields])


def test_one_small_group_is_not_its_sum(sample: geolookup.Engine) -> None:
    sections = _sections(sample, [US] * 9 + [RUSSIA] * 3 + [AUSTRALIA] * 2)
    others = _rows(sections["whose"], OTHERS_CAPTION)
    assert others["2 further countries with fewer than 5 requests each"] == ["5"]
    assert others["1 further city with fewer than 5 requests"] == ["fewer than 5"]
    assert others["no known city"] == ["fewer than 5"]
    every = _sections(sample, [US] * 9 + [RUSSIA], least=1)
    countries = _rows(every["whose"], "top-countries")
    assert countries == {"United States": ["9"], "Russia": ["1"]}
    assert "fewer" not in " ".join(_values(every["privacy"].values))


#: A log with a request in each so many seconds: its first second, its length, the text of the
#: first column, the number of columns, the requests in each; and what is left out.
_EVEN = {
    "minutes": (10 * _HOUR + 40 * _MINUTE + 30, 90 * _MINUTE, 5, "1970-01-01 10:41", 89, 12, True),
    "hours": (10 * _HOUR + 40 * _MINUTE, 48 * _HOUR, 60, "1970-01-01 11:00", 47, 60, True),
    "whole hours": (10 * _HOUR, 48 * _HOUR, 60, "1970-01-01 10:00", 48, 60, False),
    "days": (10 * _HOUR, 30 * _DAY, 600, "1970-01-02", 29, 144, True),
    "a year": (0, 365 * _DAY, 3600, "1970-01-05", 51, 168, True),
}


@pytest.mark.parametrize("name", _EVEN)
def test_even_requests_make_even_charts(sample: geolookup.Engine, name: str) -> None:
    """No column of a part of its time looks like a fall of the requests."""
    first, length, step, start, columns, count, is_cut = _EVEN[name]
    seconds = range(first, first + length, step)
    sections = _sections(sample, [RUSSIA] * len(seconds), seconds)
    rows = _rows(sections["time"], "over-time")
    assert (next(iter(rows)), len(rows)) == (start, columns)
    assert {*map(tuple, rows.values())} == {(f"{count}",)}
    assert ("only whole" in sections["time"].values["note"]) == is_cut
    if length >= 7 * _DAY:
        hours = _rows(sections["time"], "week")
        assert hours == {day: [f"{_HOUR // step}"] * 24 for day in _DAYS}


_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@pytest.mark.parametrize(
    ("addresses", "seconds", "note", "charts"),
    [
        ([], [], "No request has a time", []),
        ([RUSSIA] * 9, [], "No request has a time", []),
        (["10.0.0.1"] * 9, [0] * 9, "No request has a time", []),
        ([RUSSIA] * 2, [0, 9999], "Requests with a time: fewer than 5", []),
        (
            [AUSTRALIA] * 90,
            range(0, 900, 10),
            "Requests with a known local time: 0.",
            ["over-time"],
        ),
        ([RUSSIA] * 9, [0] * 9, "within a few minutes", []),
        ([RUSSIA] * 9, range(0, 99999, 11111), "8 hours with fewer than 5 requests each, 8 in", []),
        ([RUSSIA] * 81, [*range(0, 7200, 90), -62_000_000_000], "weeks apart", ["week"]),
    ],
)
def test_times_are_drawn_if_they_are_known(
    sample: geolookup.Engine,
    addresses: list[str],
    seconds: Sequence[int],
    note: str,
    charts: list[str],
) -> None:
    section = _sections(sample, addresses, seconds)["time"]
    assert note in section.values["note"]
    assert [chart.name for chart in section.values["charts"]] == charts


def test_places_without_a_country_are_on_the_map(tmp_path: Path) -> None:
    data = "network,latitude,longitude\n8.8.8.0/24,47.4,8.5\n"
    with geolookup.open(build_at(tmp_path, {"places.csv": data})[0]) as engine:
        section = _sections(engine, ["8.8.8.8"] * 7)["where"]
        assert _sections(engine, ["8.8.8.8"] * 4)["where"].values["charts"] == []
    (chart,) = section.values["charts"]
    assert chart.rows == [("all circles", "7")]
    assert section.values["note"] == "Requests with a known country: 0; with a known place: 7."


def test_hours_outside_of_the_log_are_not_empty_hours(sample: geolookup.Engine) -> None:
    """Ten requests from Thursday 03:00 to 05:59 in Moscow, none of them from 04:00 on."""
    seconds = [0] * 5 + [2 * _HOUR + 3599] * 3
    section = _sections(sample, [RUSSIA] * 8, seconds)["time"]
    hours = _rows(section, "week")
    assert hours["Thursday"] == ["", "", "", "5", "0", *[""] * 19]
    assert all(text == "" for day in _DAYS if day != "Thursday" for text in hours[day])
    hidden = "Hidden: 1 hour with fewer than 5 requests, fewer than 5 in all."
    assert hidden in section.values["note"]


def test_charts_are_of_what_is_known(sample: geolookup.Engine) -> None:
    for addresses, whose, kinds in (
        (["10.0.0.1"] * 9, [], []),
        ([AUSTRALIA] * 9, ["top-networks", "top-countries"], []),
        ([US] * 9, ["top-networks", "top-cities", "top-countries"], ["hosting"]),
    ):
        sections = _sections(sample, addresses)
        for anchor, names in (("whose", whose), ("kinds", kinds)):
            values = sections[anchor].values
            assert [chart.name for chart in values["charts"]] == names
            assert names or values["note"].startswith("No ")
    # A key of colours without any bar would tell the kind of network of few requests.
    few = _sections(sample, [US] * 4, codes=[200] * 4)["kinds"].values
    assert not few["charts"]
    assert few["note"].startswith("No ")


def test_shares_are_by_country(sample: geolookup.Engine) -> None:
    addresses = [US] * 20 + [RUSSIA] * 10 + [AUSTRALIA] * 6
    sections = _sections(sample, addresses, codes=[*[200] * 17, *[404] * 19])
    assert _rows(sections["kinds"], "status") == {
        "All requests": ["17", "19"],
        "United States": ["17", "fewer than 5"],
        "Russia": ["0", "10"],
        "Australia": ["0", "6"],
    }
    assert _rows(sections["kinds"], "hosting")["All requests"] == ["10", "20", "6"]


@MADE
def test_the_picture_comes_first(sample: geolookup.Engine, tmp_path: Path) -> None:
    """Also of a log all from a country that is too small to be seen."""
    rows = "network,country_code,latitude,longitude\n8.8.8.0/24,LI,47.14,9.52\n"
    dataset, _ = build_at(tmp_path, {"a.csv": rows})
    with geolookup.open(dataset) as engine:
        sections = _sections(engine, ["8.8.8.8"] * 9)
        (chart,) = sections["where"].values["charts"]
        assert next(iter(sections)) == "where"
        assert [*sections][-2:] == ["privacy", "licences"]
        assert chart.rows[0][0] == "Liechtenstein"
        assert chart.rows[0][-1] == "9"
    assert not _sections(sample, ["10.0.0.1"])["where"].values["charts"]


@MADE
def test_a_reader_finds_nobody(tmp_path: Path) -> None:
    folder = tmp_path / "home of jdoe"
    folder.mkdir()
    lines = [_LINE.format(item, at) for at, item in enumerate([*LOCATED * 6, *OTHERS * 6])]
    (folder / "access.log").write_text("".join(lines), encoding="utf-8")
    page = _page(tmp_path, str(folder / "access.log"), "--min-count", "1", "--top", "100")
    secrets = [*_secrets([*LOCATED, *OTHERS]), "jdoe", "secret", "Agent/1"]
    secrets += [str(tmp_path), tmp_path.name, str(_SECOND), "28/Sep", "17:20", "15:20:36"]
    assert not [secret for secret in secrets if secret in page]
    # The period is in minutes of UTC.
    assert "<p>102 requests from 2023-09-28 15:20 to 2023-09-28 15:20 UTC.</p>" in page
    assert "<h1>Map of addresses</h1>" in page
    assert "access.log" not in page


def _secrets(addresses: list[str]) -> Iterator[str]:
    """Yield the forms in which an address may be in a file."""
    yield from addresses
    for text in addresses:
        with suppress(ValueError):
            address = ipaddress.ip_address(text)
            yield from _forms(address)
            yield from _forms(getattr(address, "ipv4_mapped", None) or address)


def _forms(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> Iterator[str]:
    yield from (str(address), address.exploded, address.reverse_pointer)
    yield from (f"{int(address):d}", f"{int(address):x}", f"{int(address):X}")
    for data in (address.packed, str(address).encode()):
        yield base64.b64encode(data).decode()
    if address.version == 4:
        yield str(address).rpartition(".")[0]  # the /24
    elif address.ipv4_mapped is None:
        yield ":".join(address.exploded.split(":")[:3])  # the /48
