"""What a recipe demands of the rows of a source: some, a number, a limited drop, one release."""

from __future__ import annotations

from pathlib import Path

from geolookup_builder.expected_rows import product

from geolookup.dataset.manifest import read_manifest
from tests.builder.building import fails, isps, recipe
from tests.conftest import Build, build_at

HEADER = "network,isp\n"


def rows(count: int) -> str:
    return HEADER + "".join(f"8.8.{at}.0/24,x{at}\n" for at in range(count))


EMPTY = {
    "no rows": (HEADER, "no usable row"),
    "private rows": (HEADER + "10.0.0.0/8,x\n", "no usable row"),
    "bad ranges": (HEADER + "nowhere,x\n", "no usable row"),
    "no values": (HEADER + "8.8.8.0/24,\n", "no row with a value"),
    "invalid values": ("network,country_code\n8.8.8.0/24,XX\n", "no row with a value"),
}


def test_a_source_without_usable_rows(tmp_path: Path) -> None:
    for name, (text, problem) in EMPTY.items():
        folder = tmp_path / name
        folder.mkdir()
        error = fails(folder, {"a.csv": text}, empty="", rejects=folder / "rejects.csv")
        counted = f"a.csv: {text.count(chr(10)) - 1} rows read, "
        assert error.problem.startswith(f"{problem} in {folder / 'a.csv'} ({counted}")
        assert error.remedy.endswith('if it may be empty, write empty = "ok" in its recipe')
        assert "  " not in error.problem
        assert (folder / "rejects.csv").exists()
        assert not (folder / "dataset").exists()
    build_at(tmp_path, {f"{at}.csv": text for at, (text, _) in enumerate(EMPTY.values())})


def test_min_rows_and_bad_values(build: Build, tmp_path: Path) -> None:
    text = recipe('path = "a.csv"\nmin_rows = 3')
    build({"a.csv": rows(3)}, text)
    error = fails(tmp_path, {"a.csv": rows(2)}, text)
    assert error.problem == f"2 usable rows in {tmp_path / 'a.csv'}, min_rows is 3"
    for line, problem in WRONG.items():
        text = recipe(f'path = "a.csv"\n{line}')
        assert fails(tmp_path, {"a.csv": rows(1)}, text, empty="").problem == problem


DROP = 'max_drop = "20%"'


def test_max_drop_compares_with_the_base(tmp_path: Path) -> None:
    """A source of another month is the same; of another name it is not."""
    text = recipe(f'path = "a-2026-01.csv"\n{DROP}')
    _, report = build_at(tmp_path, {"a-2026-01.csv": rows(10)}, text)
    problem = "max_drop was not checked:"
    assert report.warnings == [
        f"a-2026-01.csv: {problem} no earlier dataset (geolookup build --base)"
    ]
    base = (tmp_path / "dataset").rename(tmp_path / "base")
    assert read_manifest(base).metadata().sources[0].rows == 10
    for name in ("a-2026-01.csv", "a-2026-02.csv"):
        text = recipe(f'path = "{name}"\n{DROP}')
        _, report = build_at(tmp_path, {name: rows(8)}, text, base=base)
        assert report.warnings == []
        assert fails(tmp_path, {name: rows(7)}, text, base=base).problem == (
            f"{name} has 7 usable rows, 10 in the base, but max_drop = 20% allows 8 at least"
        )
    text = recipe(f'path = "b.csv"\n{DROP}')
    _, report = build_at(tmp_path, {"b.csv": rows(1)}, text, base=base)
    assert report.warnings == [f"b.csv: {problem} the base has no rows of this source"]


SAME = [
    ("GeoLite2-City-CSV_20260101/a.csv", "GeoLite2-City-CSV_20260201/a.csv"),
    ("d_20260101.zip!d_20260101/a.csv", "d_20260201/a.csv"),
    ("dbip-city-lite-2026-01.csv.gz", "dbip-city-lite-2026-02.csv"),
    ("DB11_2026.01.31.CSV", "DB11_2026.02.28.CSV"),
    ("routeviews-rv2-20261120-1200.pfx2as.gz", "routeviews-rv2-20261120-1400.pfx2as"),
    ("ip-to-country-20261101.csv", "ip-to-country-20261201.csv"),
]
DIFFERENT = [
    ("City-Blocks-IPv4_20260101.csv", "City-Blocks-IPv6_20260101.csv"),
    ("x-v4.csv", "x-v6.csv"),
    ("delegated-apnic-20260101", "delegated-arin-20260101"),
    ("asn-ipv4-num.csv", "asn-ipv6-num.csv"),
    ("AS201201.csv", "AS201202.csv"),
    ("part-1.csv", "part-2.csv"),
    ("20261301.csv", "20261401.csv"),
]


def test_products() -> None:
    for one, other in SAME:
        assert product(one) == product(other), one
    for one, other in DIFFERENT:
        assert product(one) != product(other), one


def test_sources_that_lose_rows(build: Build, tmp_path: Path) -> None:
    _, report = build({"a.csv": rows(3), "b.csv": rows(2)})
    warning = "b.csv decides no address: earlier sources decide all of its rows"
    assert report.warnings == [warning]
    assert f"warning: {warning}" in list(report.lines())
    # A clean source takes one line; a row that smaller ones cover is counted.
    text = HEADER + "8.8.8.0/24,wide\n8.8.8.0/25,a\n8.8.8.128/25,b\n"
    _, report = build({"a.csv": text, "b.csv": HEADER + "9.9.9.0/24,x\n"})
    assert list(report.lines())[:3] == [
        "a.csv: 3 rows read, 2 used",
        "  covered     1 rows whose addresses more specific rows decide",
        "b.csv: 1 rows read, 1 used",
    ]
    files: dict[str, str | bytes] = {"x-2026-01.csv": rows(2), "x-2026-02.csv": rows(1)}
    error = fails(tmp_path, files, recipe('path = "x-*.csv"'))
    assert error.path == str(tmp_path / "x-2026-02.csv")
    assert error.problem == f"two releases of one product, with {tmp_path / 'x-2026-01.csv'}"
    assert error.remedy == 'name one of them; to read all, write releases = "all" in a recipe'
    output, _ = build(files, recipe('path = "x-*.csv"\nreleases = "all"'))
    assert isps(output, "8.8.0.1", "8.8.1.1") == ["x0", "x1"]


WRONG = {
    "empty = true": "unknown value True of source.empty",
    'releases = "two"': "unknown value 'two' of source.releases",
    "min_rows = -1": "source.min_rows is not a number of rows",
    "min_rows = true": "source.min_rows is not a number of rows",
    f"min_rows = 0x{'f' * 5000}": "source.min_rows is not a number of rows",
    'max_drop = "120%"': "source.max_drop is not a percentage",
    "max_drop = 20": "source.max_drop is not a percentage",
}
