"""Every way to lose a value: where it is counted, and what ends the build above a limit.

docs/data/losses.md has ``LOSSES`` too: ``tests/docs/test_losses_page.py``.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import pytest

from geolookup.errors import BuildError, QualityError
from tests.builder.sources.formats.mmdb_writing import mmdb
from tests.builder.sources.formats.test_generic_typed import as_parquet
from tests.builder.sources.reading.test_inputs import zipped
from tests.builder.sources.readings import Reading, read_at
from tests.conftest import build_at
from tests.internals.builder import KINDS, SourceReport, limit_key


@dataclass(frozen=True)
class Loss:
    """A way to lose values.

    ``files`` are read by a source with the lines ``options``. ``counts`` is what the report states
    of it by word of ``KINDS``, by field for values. ``error`` is the problem that ends the build
    without any limit: such a loss cannot happen.
    """

    way: str
    files: Mapping[str, str | bytes]
    options: str = ""
    counts: Mapping[str, int | Mapping[str, int]] | None = None
    error: str = ""
    after: str = ""  # tables of the recipe behind the source


def csv(header: str, *rows: str) -> dict[str, str | bytes]:
    """A file of rows, and two good ones more."""
    return {"a.csv": "".join(f"{row}\n" for row in (header, *rows))}


def nulled(**fields: int) -> dict[str, Mapping[str, int]]:
    return {"nulled": fields}


GOOD = "network,isp\n8.8.8.0/24,x\n"
COUNTRY = "network,country_code,region_code,region_name,city_name,postal_code"
OWN = "[columns]\nsite = 'text'\ntags = 'texts'\nlevel = 'integer'\nis_vpn = 'boolean'\n"
LOSSES = (
    # --- rows
    Loss("a malformed or empty range", csv("network,isp", "nowhere,x", "8.8.8.0/24,y"),
         counts={"rejected": 1}),
    Loss("host bits", csv("network,isp", "8.8.8.1/24,x"), counts={"rejected": 1}),
    Loss("a malformed or empty range", csv("network,isp", ",x"), counts={"rejected": 1}),
    Loss("`first` after `last`",
         csv("first,last,isp", "8.8.8.9,8.8.8.1,x"), counts={"rejected": 1}),
    Loss("mixed families", csv("first,last,isp", "8.8.8.1,::5,x"), counts={"rejected": 1}),
    Loss("more or fewer cells than the header", csv("network,isp", "8.8.8.0/24", "8.8.9.0/24,a,b"),
         counts={"rejected": 2}),
    Loss("a comment", csv("network,isp", "# note", "8.8.8.0/24,x"),
         counts={"rejected": 1}),
    Loss("more or fewer cells than the header",
         {"a1.csv": GOOD, "a2.csv": "network,isp\n8.8.9.0/24\n"}, 'path = "a*.csv"',
         counts={"rejected": 1}),
    Loss("a range that a later row repeats", csv("network,isp", "8.8.8.0/24,x", "8.8.8.0/24,y"),
         counts={"duplicate": 1}),
    Loss("a range that narrower ones cover",
         csv("network,isp", "8.8.8.0/31,x", "8.8.8.0/32,y", "8.8.8.1/32,z"),
         counts={"covered": 1}),
    Loss("special-purpose space", csv("network,isp", "10.0.0.0/8,x"),
         counts={"clipped": 1}),
    Loss("special-purpose space, kept for private own columns",
         csv("network,site", "10.0.0.0/8,x"), counts={"private": 1},
         after="[columns]\nsite = { type = 'text', private = true }\n"),
    Loss("IPv4-mapped addresses, kept as IPv4", csv("network,isp", "::ffff:8.8.8.0/120,x"),
         counts={"folded": 1}),
    Loss("6to4 and NAT64 space",
         csv("network,isp", "2002:808::/32,x", "64:ff9b::808:0/112,y"),
         counts={"excluded": 2}),
    Loss("all outside `only`, `families` and `within`",
         csv("network,country_code", "8.8.8.0/24,US", "8.8.9.0/24,DE"), 'only = "country=DE"',
         counts={"left out": 1}),
    Loss("all outside `only`, `families` and `within`",
         csv("network,isp", "8.8.8.0/24,x", "2600::/32,y"), "families = [6]",
         counts={"left out": 1}),
    Loss("all outside `only`, `families` and `within`",
         csv("network,isp", "8.8.8.0/24,x", "9.9.9.0/24,y"), 'within = ["9.0.0.0/8"]',
         counts={"left out": 1}),
    # --- values
    Loss("an unknown country, with its region, city and postal code",
         csv("network,country_code", "8.8.8.0/24,XX"), counts=nulled(country_code=1)),
    Loss("an unknown country, with its region, city and postal code",
         csv(COUNTRY, "8.8.8.0/24,XX,BE,Berlin,Berlin,10115"),
         counts=nulled(country_code=1, region_code=1, region_name=1, city_name=1, postal_code=1)),
    Loss("the region of another country", csv(COUNTRY, "8.8.8.0/24,DE,FR-75,,,"),
         counts=nulled(region_code=1)),
    Loss("a name as a region code", csv(COUNTRY, "8.8.8.0/24,DE,Bavaria,,,"),
         counts=nulled(region_code=1)),
    Loss("an unknown continent", csv("network,continent_code", "8.8.8.0/24,XX"),
         counts=nulled(continent_code=1)),
    Loss("a coordinate out of range or alone",
         csv("network,latitude,longitude", "8.8.8.0/24,91,5"),
         counts=nulled(latitude=1, longitude=1)),
    Loss("a coordinate out of range or alone",
         csv("network,latitude,longitude", "8.8.8.0/24,5,", "8.8.9.0/24,,6", "8.8.10.0/24,5,6"),
         counts=nulled(latitude=1, longitude=1)),
    Loss("a decimal comma", csv("network,latitude,longitude", '8.8.8.0/24,"52,5","13,4"'),
         counts=nulled(latitude=1, longitude=1)),
    Loss("an unknown time zone", csv("network,time_zone", "8.8.8.0/24,Europe/Berlun"),
         counts=nulled(time_zone=1)),
    Loss("an AS number with a fraction or out of range",
         csv("network,asn,asn_organization", "8.8.8.0/24,64501.5,Acme", "8.8.9.0/24,4294967296,"),
         counts=nulled(asn=2, asn_organization=1)),
    Loss("an AS number with a fraction or out of range",
         {"a.parquet": as_parquet([{"network": "8.8.8.0/24", "asn": 1e300}])},
         counts=nulled(asn=1)),
    Loss("an unknown kind of user or connection", csv("network,user_type", "8.8.8.0/24,robot"),
         counts=nulled(user_type=1)),
    Loss("a placeholder such as `N/A`", csv("network,asn", "8.8.8.0/24,N/A"), counts=nulled(asn=1)),
    Loss("control characters", csv("network,isp", "8.8.8.0/24,a\0b", "8.8.9.0/24,a\x1bb"),
         counts=nulled(isp=2)),
    Loss("a value of the wrong type", csv("network,level", "8.8.8.0/24,5.5"), after=OWN,
         counts={"nulled": {"own.level": 1}}),
    Loss("a value of the wrong type",
         csv("network,is_vpn", "8.8.8.0/24,perhaps"), after=OWN,
         counts={"nulled": {"own.is_vpn": 1}}),
    Loss("a value of the wrong type", csv("network,tags", '8.8.8.0/24,"[""a"""'), after=OWN,
         counts={"nulled": {"own.tags": 1}}),
    Loss("coordinates far from their country, kept",
         csv("network,country_code,latitude,longitude", "8.8.8.0/24,CH,8.5,47.4"),
         counts={"far": 1}),
    Loss("`UK` and `EL`, kept as `GB` and `GR`", csv("network,country_code", "8.8.8.0/24,UK"),
         counts={"alias": 1}),
    Loss("an unknown country, with its region, city and postal code",
         {"a.csv": "8.8.8.0/24,XX,,,\n"}, 'format = "geofeed"', counts=nulled(country_code=1)),
    Loss("the region of another country", {"a.csv": "8.8.8.0/24,DE,FR-75,,\n"},
         'format = "geofeed"', counts=nulled(region_code=1)),
    Loss("a word of `empty`", csv("network,isp,asn", "8.8.8.0/24,x,N/A"),
         'cells = { empty = ["N/A"] }', counts={"emptied": 1}),
    # --- other formats
    Loss("an MMDB record of another kind",
         {"a.mmdb": mmdb({"8.8.8.0/24": {"country_code": "US"}, "8.8.9.0/24": "text"})},
         'format = "mmdb"', counts={"rejected": 1}),
    Loss("an MMDB map or list as a value",
         {"a.mmdb": mmdb({"8.8.8.0/24": {"isp": "x"}, "8.8.9.0/24": {"isp": ["x"]}})},
         'format = "mmdb"', counts={"nulled": {"isp": 1}, "not read": 1}),
    Loss("an AS number with a fraction or out of range",
         {"a.jsonl": '{"network": "8.8.8.0/24", "asn": 1e12}\n'}, 'format = "jsonl"',
         counts=nulled(asn=1)),
    Loss("a value of the wrong type",
         {"a.jsonl": '{"network": "8.8.8.0/24", "isp": 123456789012345678}\n'}, 'format = "jsonl"',
         counts=nulled(isp=1)),
    Loss("the default route of a routing table", {"a.pfx2as": "0.0.0.0\t0\t1\n8.8.8.0\t24\t2\n"},
         'format = "pfx2as"', counts={"nulled": {"asn": 1}, "clipped": 1}),
    Loss("further origins of a prefix", {"a.pfx2as": "8.8.8.0\t24\t2_3\n"},
         'format = "pfx2as"', counts={"emptied": 1}),
    # --- columns and files
    Loss("a column that `fields` leaves out",
         csv("network,country_code,asn", "8.8.8.0/24,XX,1"), 'fields = ["asn"]',
         counts={"not kept": 1}),
    Loss("a column that `fields` leaves out", csv("network,isp,asn", "8.8.8.0/24,x,1"),
         after='fields = ["asn"]', counts={"not kept": 1}),
    Loss("a column that follows from others",
         csv("network,country_code,country_name", "8.8.8.0/24,US,USA"), counts={"not read": 1}),
    Loss("a column beside mapped ones",
         csv("net,isp,extra", "8.8.8.0/24,x,1"), 'columns = { network = "net" }',
         counts={"not read": 1}),
    Loss("an index of pandas", csv(",network,isp", "0,8.8.8.0/24,x"),
         counts={"not read": 1}),
    Loss("a last column without a name", csv("network,isp,", "8.8.8.0/24,x,"),
         counts={"not read": 1}),
    Loss("a file of another suffix in an archive",
         {"a.zip": zipped({"a.csv": GOOD, "b.tsv": GOOD.replace(",", "\t"), "readme.txt": "x"})},
         counts={"not read": 1}),
    # --- what ends the build by itself
    Loss("a column of an unknown name", csv("network,isp,extra", "8.8.8.0/24,x,1"),
         error="unknown column 'extra'"),
    Loss("a column or JSON member twice", csv("network,isp,isp", "8.8.8.0/24,x,y"),
         error="column 'isp' twice"),
    Loss("a field by two names", csv("network,city,city_name", "8.8.8.0/24,x,y"),
         error="are the same field"),
    Loss("a latitude without a longitude", csv("network,latitude", "8.8.8.0/24,5"),
         error="latitude without longitude"),
    Loss("a missing mapped column", csv("network,isp", "8.8.8.0/24,x"),
         'columns = { asn = "number" }', error="'number'"),
    Loss("text that is not UTF-8", {"a.csv": b"network,isp\n8.8.8.0/24,Z\xfcrich\n"},
         error="not UTF-8"),
    Loss("an open quote", csv("network,isp", '8.8.8.0/24,"x', "8.8.9.0/24,y"),
         error="never closed"),
    Loss("a column or JSON member twice",
         {"a.jsonl": '{"network": "8.8.8.0/24", "isp": "x", "isp": "y"}\n'}, 'format = "jsonl"',
         error="occurs twice"),
    Loss("a JSON member of two types", {"a.jsonl": '{"network": "8.8.8.0/24", "isp": "x"}\n'
         '{"network": "8.8.9.0/24", "isp": 5}\n'}, 'format = "jsonl"', error="changes its type"),
    Loss("a cut file", {"a.csv.gz": gzip.compress(GOOD.encode() * 99)[:-9]}, error="truncated"),
    Loss("two releases of one product",
         {"a-2026-01.csv": GOOD, "a-2026-02.csv": GOOD}, 'path = "a-*.csv"',
         error="two releases of one product"),
)  # fmt: skip


def recipe(loss: Loss, limits: str = "") -> str:
    """The recipe of a loss; its options replace the lines that a source has by default."""
    stated = {"format": '"csv"', "path": f'"{next(iter(loss.files))}"'}
    if "a.parquet" in loss.files:
        stated["format"] = '"parquet"'
    lines = [f"{key} = {value}" for key, value in stated.items() if f"{key} =" not in loss.options]
    in_dataset = loss.after if loss.after.startswith("fields") else ""
    after = "" if in_dataset else loss.after
    source = "\n".join(("[[source]]", *lines, loss.options, limits))
    return f'[dataset]\nname = "t"\n{in_dataset}\n{source}\n{after}'


def counted(reading: Reading) -> dict[str, int | dict[str, int]]:
    """What the report of the first source states, by word; without what is 0."""
    counts: dict[str, int | dict[str, int]] = {}
    for word in KINDS:
        of_fields = reading.source.counts(word).items()
        by_field = {name: count for name, (count, _) in of_fields if count}
        if by_field:
            counts[word] = by_field.get("", by_field)
    return counts


COUNTED = [loss for loss in LOSSES if not loss.error]


@pytest.mark.parametrize("loss", COUNTED, ids=lambda loss: loss.way)
def test_each_loss_is_counted_and_bounded(loss: Loss, tmp_path: Path) -> None:
    reading = read_at(tmp_path, loss.files, recipe(loss))
    assert counted(reading) == loss.counts
    text = "\n".join(reading.source.lines())
    for word in loss.counts or {}:
        assert f"  {word}" in text
        limit, by_option = (
            f"{limit_key(word)} = 0",
            {"nulled": "max_nulled", "rejected": "max_rejected"},
        )
        stated = {by_option[word]: None} if word in by_option else {}  # an option would win
        with pytest.raises(BuildError, match=limit_key(word)) as caught:
            read_at(tmp_path, loss.files, recipe(loss, limit), **stated)
        assert "\n" not in str(caught.value)
        assert caught.value.remedy


@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss.error], ids=lambda of: of.way)
def test_other_losses_end_the_build(loss: Loss, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=loss.error) as caught:
        read_at(tmp_path, loss.files, recipe(loss))
    assert caught.value.remedy


FEW = "network,isp,asn\n8.8.8.0/24,x,1\n8.8.9.0/24,y,\n"
#: By way: the source's lines, the tables behind it, and the problem. The dataset before had an AS
#: for both networks; an earlier source knows the provider of both.
DEMANDS: dict[str, tuple[str, str, str]] = {
    "rows that earlier sources decide": (
        "min_decided = 1", "", "min_decided = 1 of b.csv: found it decides 0 addresses"
    ),
    "a source that lost rows": ('max_drop = "10%"', "", "of b.csv: found 2 usable rows, 3 before"),
    "a source with few rows": ("min_rows = 3", "", "min_rows = 3 of b.csv: found 2 usable rows"),
    "a source that lost a column": (
        'min_coverage = { asn = "90%" }', "",
        'min_coverage asn = "90%" of b.csv: found 1 of 2 rows with a value',
    ),
    "a dataset that lost values": (
        "", '[quality]\nmin_coverage = { before.asn = "90%" }',
        r"before.asn = \"90%\": found 256 of 512 ipv4 addresses before \(50.0000%\)",
    ),
    "a dataset that never had them": (
        "", '[quality]\nmin_coverage = { asn = "1%" }', "found 256 of 3,702,258,689",
    ),
    "an answer that changed": (
        "", '[quality]\nexpect = [["8.8.9.1", "asn", 2]]', "found unknown at 8.8.9.1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("way", DEMANDS)
def test_demands_bound_the_rest(way: str, tmp_path: Path) -> None:
    lines, after, problem = DEMANDS[way]
    text = (
        '[dataset]\nname = "t"\n[[source]]\nformat = "csv"\npath = "a.csv"\nfields = ["isp"]\n'
        '[[source]]\nformat = "csv"\npath = "b.csv"\n{lines}\n{after}'
    )
    more = FEW.replace("y,", "y,2") + "8.8.10.0/24,,\n"
    fields = 'fields = ["isp"]' if "decided" in lines else ""
    files: dict[str, str | bytes] = {"a.csv": FEW, "b.csv": more}
    build_at(tmp_path, files, text.format(lines=fields, after=""))
    with pytest.raises((BuildError, QualityError), match=problem):
        build_at(
            tmp_path, {**files, "b.csv": FEW}, text.format(lines=f"{lines}\n{fields}", after=after)
        )


def test_every_counter_has_a_limit() -> None:
    """A new way to lose a value gets a counter in the report, and the counter a limit."""
    free = {
        *("name", "read", "used", "has_value", "stated", "note", "keys", "private_layers"),
        *("swapped", "addresses", "coded"),  # of far rows, of rows, and of names
        *("fields", "offered"),
    }
    counters = {field.name for field in fields(SourceReport)} - free
    assert counters == {kind.counter for kind in KINDS.values()}
