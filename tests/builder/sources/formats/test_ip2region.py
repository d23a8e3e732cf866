"""ip2region: both layouts, both families, zeros, and files that are something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builder.plain_rows import check_rows
from tests.builder.sources.readings import Read, Reading
from tests.builder.sources.recipes import one, refused

NEW = (
    "5.0.0.0|5.0.255.255|0|0|0|0|0\n"
    "5.1.0.0|5.1.3.255|中国|浙江省|杭州市|电信|CN\n"
    '5.1.4.0|5.1.4.255|Switzerland|Zürich|0|"Example" AG|CH\n'
    "2a02:8::|2a02:8:ffff:ffff:ffff:ffff:ffff:ffff|Germany|0|Berlin|0|DE\n"
)
OLD = (
    "5.1.0.0|5.1.3.255|中国|0|浙江省|杭州市|电信\n"
    "5.1.4.0|5.1.4.255|瑞士|0|0|0|0\n"
    "5.1.5.0|5.1.5.255|中国|华东|0|0|联通\n"
)
PROBES = ("5.0.0.1", "5.1.0.0", "5.1.4.255", "2a02:8::1")
NAMES = ("country_code", "region_name", "city_name", "isp")


def four(reading: Reading, *addresses: str) -> list[tuple[object, ...]]:
    return [tuple(map(each.get, NAMES)) for each in reading.stated(*addresses)]


def test_with_country_codes(read: Read) -> None:
    reading = read({"ipv4_source.txt": NEW}, one("ip2region", "ipv4_source.txt"))
    assert four(reading, *PROBES) == [
        (None, None, None, None),
        ("CN", "浙江省", "杭州市", "电信"),
        ("CH", "Zürich", None, '"Example" AG'),
        ("DE", None, "Berlin", None),
    ]
    assert reading.source.nulled == {}
    assert reading.source.rejected == {}


def test_without_country_codes(read: Read) -> None:
    reading = read({"ip.merge.txt": OLD}, one("ip2region", "ip.merge.txt"))
    assert four(reading, "5.1.0.0", "5.1.4.0", "5.1.5.0") == [
        (None, "浙江省", "杭州市", "电信"),
        (None, None, None, None),
        (None, None, None, "联通"),
    ]


def test_a_provider_of_two_letters_here_and_there(read: Read) -> None:
    reading = read({"a.txt": OLD + "5.1.6.0|5.1.6.255|0|0|0|0|BT\n"}, one("ip2region", "a.txt"))
    assert four(reading, "5.1.6.0") == [(None, None, None, "BT")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (NEW.replace("|", ","), "1 columns, but ip2region's source text has 7"),
        ("5.1.0.0|5.1.3.255|中国|浙江省|杭州市|电信\n", "6 columns"),
        ("a|b|c|d|e|f|g\n", "'a' is no start"),
    ],
)
def test_other_files(tmp_path: Path, text: str, problem: str) -> None:
    error = refused(tmp_path, "a.txt", text, one("ip2region", "a.txt"))
    assert problem in str(error)
    assert error.line == 1


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (NEW, ("", "region_name", "city_name", "isp", "country_code")),
        (OLD, ("", "", "region_name", "city_name", "isp")),
    ],
)
def test_rows_are_those_of_a_plain_reader(
    tmp_path: Path, text: str, names: tuple[str, ...]
) -> None:
    rows = []
    for line in text.splitlines():
        cells = zip(("first", "last", *names), line.split("|"), strict=True)
        rows.append({name: cell for name, cell in cells if name and cell != "0"})
    check_rows(tmp_path, {"a.txt": text}, one("ip2region", "a.txt"), rows)
