"""``geolookup map``: its figures equal single lookups, and nobody is found in its page."""

from __future__ import annotations

import base64
import ipaddress
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geolookup
from geolookup.files.summarize import KINDS, Count, Summary
from geolookup.files.traffic import LocalHours, Traffic
from geolookup.pictures.world import Density, World
from geolookup.reports.traffic_groups import groups_of
from geolookup.reports.traffic_page import title
from geolookup.reports.traffic_times import hours_section
from geolookup.tables.times import Instants
from tests.cli.program import pipe, run
from tests.conftest import build_at
from tests.pictures.unpacking import inflated, unpack_floats, unpack_integers
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
_INSTANT = 1_695_914_436
_LINE = '{} - jdoe [28/Sep/2023:17:20:36 +0200] "GET /secret/{} HTTP/1.1" 200 1 "-" "Agent/1"\n'


def _page(folder: Path, *args: str) -> str:
    """Return the page that the command writes, in this process."""
    output = folder / "map.html"
    done = run("map", *args, "--output", str(output))
    assert done.returncode == 0, done.stderr
    assert f"{output}: {output.stat().st_size:,} bytes\n" in done.stdout
    return output.read_text(encoding="utf-8")


def _rows(page: str, caption: str) -> list[list[str]]:
    """Return the rows of the table with a caption, its head first, as texts."""
    table = re.search(rf"<caption>{caption}[^<]*</caption>(.*?)</table>", page, re.DOTALL)
    assert table, caption
    rows = re.findall(r"<tr>(.*?)</tr>", table[1], re.DOTALL)
    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]


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
        assert all(wanted[entry.members] == entry.addresses >= least for entry in groups.top)
        every = groups_of(summary, kind, 100, least)
        assert (every.further, every.number) == (0, len(every.top))
        assert every.top[:top] == groups.top
        assert groups.number == every.number <= sum(n >= least for n in wanted.values())
        stated = sum(n.addresses for n in groups.top)
        assert stated + groups.further + groups.hidden == wanted.total()
        assert groups.unknown == unknown
        _check_hidden(wanted, every.top, least)


def _check_hidden(wanted: Counter[tuple[Any, ...]], shown: Sequence[Count], least: int) -> None:
    """Check that hidden counts sum to nothing, to much or to all."""
    hidden = wanted - Counter({item.members: item.addresses for item in shown})
    few = {members for members, n in wanted.items() if n < least}
    assert few <= hidden.keys()
    assert bool(few) or not hidden
    assert hidden.total() in (0, wanted.total()) or hidden.total() >= least


def _counted(
    engine: geolookup.Engine, addresses: list[str], paths: tuple[str, ...]
) -> tuple[Counter[tuple[Any, ...]], int]:
    result: Counter[tuple[Any, ...]] = Counter()
    unknown = 0
    for address in addresses:
        data: Any = engine.lookup(address)["data"]
        if data is not None:
            members = tuple(data[group].get(name) for group, name in _split(paths))
            result[members] += members[0] is not None
            unknown += members[0] is None
    return +result, unknown


def _split(paths: tuple[str, ...]) -> list[list[str]]:
    return [path.split(".") for path in paths]


def test_places_are_those_of_single_lookups(sample: geolookup.Engine) -> None:
    summary = Summary(sample)
    summary.add(pa.array([*LOCATED * 3, *OTHERS]))
    result: Counter[Any] = Counter()
    *places, countries = summary.places()
    for cells in zip(*places, strict=True):
        latitude, longitude, weight = (float(item) for item in cells)
        result[None if np.isnan(latitude) else (latitude, longitude)] += int(weight)
    wanted: Counter[Any] = Counter()
    for address in [*LOCATED * 3, *OTHERS]:
        data: Any = sample.lookup(address)["data"]
        if data is not None:
            at = data["location"]["latitude"], data["location"]["longitude"]
            wanted[None if at[0] is None else at] += 1
    assert +result == wanted
    assert len(countries) == len(places[0])


def test_hours_of_few_requests_are_hidden(sample: geolookup.Engine) -> None:
    hours = LocalHours(sample.snapshot())
    for day, hour, count in ((0, 13, 6), (6, 23, 4), (3, 0, 1_000), (1, 1, 5), (2, 2, 6)):
        hours.counts[day * 24 + hour] = count
    section = hours_section(hours, 1_021, 5)
    (view,) = section.values["views"]
    assert "In hidden hours: 9." in section.values["note"]  # 4 would tell of a small group
    shown = [
        (day, hour, count)
        for day, counts in view.rows
        for hour, count in enumerate(counts)
        if count is not None
    ]
    assert shown == [("Monday", 13, 6), ("Wednesday", 2, 6), ("Thursday", 0, 1_000)]


#: An address of the small dataset in each zone.
_ZONES = {
    "68.181.17.93": "America/Los_Angeles",
    "93.180.39.77": "Europe/Moscow",
    "103.27.9.201": "Asia/Kolkata",
}
#: Clocks are set back that day in America.
_FIRST = datetime.fromisoformat("2026-11-01T00:20:00Z")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def test_hours_are_local_and_few_are_hidden(sample: geolookup.Engine) -> None:
    traffic = Traffic(sample.snapshot())
    summary = Summary(sample, traffic)
    wanted: Counter[tuple[str, int]] = Counter()
    for address, zone in _ZONES.items():
        times = [_FIRST + timedelta(hours=hour) for hour in range(300)]
        seconds = np.array([int(at.timestamp()) for at in times], np.int64)
        instants = Instants(seconds, np.ones(len(times), bool))
        summary.add(pa.array([address] * len(times)), instants=instants)
        local = [at.astimezone(ZoneInfo(zone)) for at in times]
        wanted.update((_DAYS[at.weekday()], at.hour) for at in local)
    section = hours_section(traffic.hours, 900, 5)
    (view,) = section.values["views"]
    cells = {(day, hour): n for day, counts in view.rows for hour, n in enumerate(counts)}
    assert len(cells) == 7 * 24
    shown = {at: count for at, count in cells.items() if count is not None}
    assert shown == {at: count for at, count in wanted.items() if count >= 5}
    hidden = sum(count for count in wanted.values() if count < 5)
    assert hidden
    assert f"In hidden hours: {hidden}." in section.values["note"]


def test_no_city_is_found_by_subtraction_from_its_country(tmp_path: Path) -> None:
    cities = [("8.8.8.0/24", "SG", "Singapore"), ("8.8.9.0/24", "SG", "Jurong"),
              ("9.0.0.0/24", "FR", "Paris"), ("9.0.1.0/24", "FR", ""),
              ("9.0.2.0/24", "FR", "Lyon"), ("1.1.1.0/24", "AU", "Perth")]  # fmt: skip
    rows = "".join(f"{','.join(city)}\n" for city in cities)
    dataset, _ = build_at(tmp_path, {"a.csv": "network,country_code,city_name\n" + rows})
    counts = {"8.8.8.8": 90, "8.8.9.9": 2, "9.0.0.1": 9, "9.0.1.1": 3, "9.0.2.1": 3, "1.1.1.1": 7}
    with geolookup.open(dataset) as engine:
        summary = Summary(engine)
        summary.add(pa.array([item for item, n in counts.items() for _ in range(n)]))
    result = groups_of(summary, "cities", 10, 5)
    assert [entry.members[0] for entry in result.top] == ["Paris", "Perth"]  # 92 - 90 would be 2
    assert (result.hidden, result.unknown) == (95, 3)
    assert [entry.addresses for entry in groups_of(summary, "countries", 10, 5).top] == [92, 15, 7]
    assert groups_of(summary, "cities", 10, 1).hidden == 0


def test_no_cell_is_found_by_subtraction_from_its_country(tmp_path: Path) -> None:
    rows = [("8.8.8.0/24", "FR", 48.9, 2.3), ("8.8.9.0/24", "FR", 45.8, 4.8),
            ("9.0.0.0/24", "DE", 52.5, 13.4), ("9.0.1.0/24", "DE", 50.1, 8.7),
            ("9.0.2.0/24", "US", 38.9, -77.0)]  # fmt: skip
    text = "".join(f"{','.join(map(str, row))}\n" for row in rows)
    head = "network,country_code,latitude,longitude\n"
    dataset, _ = build_at(tmp_path, {"a.csv": head + text})
    counts = {"8.8.8.8": 18, "8.8.9.9": 2, "9.0.0.1": 3, "9.0.1.1": 3, "9.0.2.1": 30}
    with geolookup.open(dataset) as engine:
        summary = Summary(engine)
        summary.add(pa.array([item for item, n in counts.items() for _ in range(n)]))
    # France has 20: 18 in a cell would tell of 2 in another.
    density = Density("requests", "Requests", "requests", *summary.places())
    assert World([density], 5).layers[0].weights.tolist() == [30]
    assert sorted(World([density], 1).layers[0].weights.tolist()) == [2, 3, 3, 18, 30]


def _secrets(addresses: list[str]) -> Iterator[str | bytes]:
    """Yield the forms in which an address may be in a file: texts and bytes."""
    yield from addresses
    for text in addresses:
        with suppress(ValueError):
            address = ipaddress.ip_address(text)
            yield from _forms(address)
            yield from _forms(getattr(address, "ipv4_mapped", None) or address)


def _forms(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> Iterator[str | bytes]:
    yield from (str(address), address.exploded, address.reverse_pointer)
    yield from (f"{int(address):d}", f"{int(address):x}", f"{int(address):X}")
    yield from (address.packed, address.packed[::-1])
    yield from map(base64.b64encode, (address.packed, str(address).encode()))
    if address.version == 4:
        yield str(address).rpartition(".")[0]  # the /24
    elif address.ipv4_mapped is None:
        yield ":".join(address.exploded.split(":")[:3])  # the /48


def _contents(page: str) -> Iterator[bytes]:
    """Yield a page, and the content of its packed arrays: bytes in each order, and numbers."""
    yield page.encode()
    data = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    for text in _texts([json.loads(item) for item in data]):
        try:
            planes = inflated(text)
        except (ValueError, IndexError, zlib.error):
            continue  # no packed array
        yield planes
        for unpack in (unpack_integers, unpack_floats):
            with suppress(ValueError):
                numbers = unpack(text)
                yield numbers.tobytes()
                yield " ".join(f"{number:.0f}" for number in numbers).encode()


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


@MADE
def test_a_reader_finds_nobody(tmp_path: Path) -> None:
    folder = tmp_path / "home of jdoe"
    folder.mkdir()
    lines = [_LINE.format(item, at) for at, item in enumerate([*LOCATED * 6, *OTHERS * 6])]
    (folder / "access.log").write_text("".join(lines), encoding="utf-8")
    page = _page(tmp_path, str(folder / "access.log"), "--min-count", "1", "--top", "100")
    contents = list(_contents(page))
    assert len(contents) > 10
    secrets: list[str | bytes] = [*_secrets([*LOCATED, *OTHERS]), "jdoe", "secret", "Agent/1"]
    secrets += [str(tmp_path), tmp_path.name, str(_INSTANT)]
    for secret in secrets:
        wanted = secret.encode() if isinstance(secret, str) else secret
        assert not [content for content in contents if wanted in content], secret
    # The period is in minutes of UTC.
    period = "from 2023-09-28 15:20 to 2023-09-28 15:20 UTC"
    assert f"<p>102 requests from 14 distinct addresses, {period}. The page holds" in page
    assert not [text for text in ("28/Sep", "17:20", "15:20:36") if text in page]
    assert "<h1>Map of access.log</h1>" in page
    figures = re.findall(r'<dt>(.*?)</dt><dd class="value">(.*?)</dd>', page)
    assert figures == [
        *(
            ("Distinct addresses", "14"),
            ("Requests", "102"),
            ("Located", "78"),
            ("Unknown", "6"),
            ("Invalid", "6"),
        ),
        *(("Private", "12"), ("IPv4", "66"), ("IPv6", "18")),
    ]


def test_a_name_is_stated_unless_it_is_an_address() -> None:
    for name in (
        *("93.180.39.77.log", "2001:4860:4860::8888.log", "ip-93-180-39-77.log"),
        *("93_180_39_77-access.csv", "2001-4860-4860--8888.log", "2001_4860_4860__8888"),
    ):
        assert title(name) == "Map of addresses", name
    for name in ("access_2026-11-20_09-30-11.log", "access.log.1", "v1-2-3.csv"):
        assert title(f"logs/{name}") == f"Map of {name}"


@MADE
def test_places_hours_and_groups_of_few_requests_are_hidden(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    counts = {"93.180.39.77": 4, "89.207.57.131": 5, "68.181.17.93": 6}  # Moscow, Dublin
    path.write_text("".join(_LINE.format(item, 1) * n for item, n in counts.items()), "utf-8")
    page = _page(tmp_path, str(path))
    assert "fewer than 5 requests" in page
    assert "Los Angeles" in page
    assert "Moscow" not in page
    assert "Russia" not in page
    assert "Ireland" not in page  # 4 hidden requests would tell of Russia
    assert _rows(page, "Requests that the charts show, and others")[1:] == [
        ["networks", "1", "6", "0", "9", "0"],
        ["cities", "1", "6", "0", "9", "0"],
        ["countries", "1", "6", "0", "9", "0"],
    ]
    assert "In hidden hours: 9." in page


@MADE
@pytest.mark.long
def test_malformed_lines_standard_input_and_pictures(tmp_path: Path) -> None:
    path, output = tmp_path / "a.log", tmp_path / "map.html"
    path.write_text(_LINE.format("93.180.39.77", 1) * 9 + f"{LOCATED[1]} broken\n", "utf-8")
    done = run("map", str(path), "--output", str(output), "--png", str(tmp_path / "png"))
    assert done.returncode == 0
    assert done.stderr == f"{path}: 1 line is malformed: 10\n"
    assert "broken" not in output.read_text(encoding="utf-8")
    names = {item.name for item in (tmp_path / "png").iterdir()}
    assert {"hours.png", "top-networks.png", "top-cities.png", "top-countries.png"} <= names
    data = b"\x80<\xff\n93.180.39.77\n"  # not all of it is text
    assert pipe("map", "-", "--output", str(output), "--force", data=data).returncode == 0
    page = output.read_text(encoding="utf-8")
    assert "<h1>Map of addresses</h1>" in page
    assert '<dt>Invalid</dt><dd class="value">1</dd>' in page
