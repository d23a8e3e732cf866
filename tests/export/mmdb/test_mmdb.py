"""MMDB files: readers find the answers of the engine in them, and the builder the same dataset."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.errors import ExportError
from tests.conftest import Build, build_at
from tests.export.reading import Address, ExpectedRecords, addresses, carrying
from tests.skips import needs, optional
from tests.tiers import scaled

maxminddb = optional("maxminddb")
pytestmark = needs("maxminddb")

#: Each returns a function that looks an address up.
READERS: dict[str, Callable[[Path], Callable[[Address], Any]]] = {
    "C": lambda path: maxminddb.open_database(path, maxminddb.MODE_MMAP_EXT).get,
    "Python": lambda path: maxminddb.open_database(path, maxminddb.MODE_MEMORY).get,
    "Rust": lambda path: optional("maxminddb_rust").open_database(str(path)).get,
}


def near(engine: geolookup.Engine, most: int) -> list[Address]:
    """Addresses at the ends of ranges, and random ones."""
    rng = random.Random(1)
    values = [rng.getrandbits(32) for _ in range(most)]
    carried = [item for value in values for item in (IPv4Address(value), *carrying(value))]
    wide = [IPv6Address(rng.getrandbits(125) | 1 << 125) for _ in range(most)]
    return [*addresses(engine, most), *carried, *wide]


def check(
    path: Path, expected: ExpectedRecords, most: int, names: Sequence[str] = ("C", "Python")
) -> None:
    for name in names:
        get = READERS[name](path)
        for address in near(expected.engine, most):
            assert get(address) == expected(address), (name, address)


@pytest.mark.parametrize(
    "name", ["C", "Python", pytest.param("Rust", marks=needs("maxminddb_rust"))]
)
def test_readers_find_what_the_engine_answers(
    sample: geolookup.Engine, files: dict[str, Path], name: str
) -> None:
    for schema, path in files.items():
        check(path, ExpectedRecords(sample, schema), scaled(6, 100), [name])


def test_metadata(sample: geolookup.Engine, build: Build, tmp_path: Path) -> None:
    counts = sample.export(tmp_path / "a.mmdb", "mmdb", schema="city")
    about = maxminddb.open_database(tmp_path / "a.mmdb").metadata()
    assert (about.binary_format_major_version, about.binary_format_minor_version) == (2, 0)
    assert (about.database_type, about.ip_version, about.languages) == ("GeoIP2-City", 6, ["en"])
    assert (about.node_count, about.record_size) == (counts["nodes"], 24)
    assert about.build_epoch == 1_795_132_800  # 2026-11-20
    assert about.description["en"].startswith("geolookup-sample; Compiled from public facts")
    # A dataset of one field, without a date.
    path, _ = build({"a.csv": "network,country_code\n8.0.0.0/8,US\n"})
    with geolookup.open(path) as engine:
        with pytest.raises(ExportError, match="the dataset has no field of city; write country"):
            engine.export(tmp_path / "b.mmdb", "mmdb", schema="city")
        engine.export(tmp_path / "b.mmdb", "mmdb")
    about = maxminddb.open_database(tmp_path / "b.mmdb", maxminddb.MODE_MMAP_EXT).metadata()
    assert about.build_epoch == 1


# --- geoip2


def without_networks(model: Any) -> Any:
    """Return a model without networks: a file joins the networks of one record."""
    if not isinstance(model, dict):
        return model
    return {name: without_networks(item) for name, item in model.items() if name != "network"}


@pytest.mark.long
@needs("geoip2")
@pytest.mark.parametrize("method", ["city", "country", "asn", "isp", "enterprise"])
def test_geoip2_reads_the_models_of_the_stand_in(
    sample: geolookup.Engine, files: dict[str, Path], method: str
) -> None:
    database = optional("geoip2.database")
    from geoip2.errors import AddressNotFoundError

    from geolookup.compat.geoip2 import Reader

    def asked(reader: Any, address: Address) -> Any:
        try:
            result = getattr(reader, method)(address)
        except AddressNotFoundError as error:
            return error.ip_address
        return without_networks(result.to_dict())

    with database.Reader(files[method]) as theirs, Reader(sample) as ours:
        for address in addresses(sample, 100):
            if address.version == 6 and int(address) >> 96 == 0x2001_0000:
                continue
            assert asked(theirs, address) == asked(ours, address), address


# --- datasets of every form

_HUGE = (
    (),
    ("0.0.0.0/0", "::/0"),
    ("0.0.0.0/1", "128.0.0.0/1", "8000::/1", "2a00::/128", "2000::/3"),
    ("2600::ffff:ffff:ffff:ffff/128", "2600::1:0:0:0:0/128", "8.8.8.8/32"),
)


def huge_rows(networks: Sequence[str]) -> str:
    lines = (f"{item},DE,{64500 + at},2.5,-0.5\n" for at, item in enumerate(networks))
    return "network,country_code,asn,latitude,longitude\n" + "".join(lines)


def random_rows(rng: random.Random) -> str:
    lines = ["network,country_code,city_name,asn,isp,latitude,longitude,user_type"]
    for _ in range(rng.randrange(1, 40)):
        family, bits = rng.choice(((4, 32), (6, 128)))
        length = rng.choice((rng.randrange(1, bits + 1), rng.randrange(8, 25)))
        value = rng.getrandbits(bits) if family == 4 else rng.getrandbits(125) | 1 << 125
        first = value >> bits - length << bits - length
        address = IPv4Address(first) if family == 4 else IPv6Address(first)
        text = rng.choice(("", "x", "Ærø", "-", "long " * rng.randrange(1, 90)))
        cells = (rng.choice(("", "DE", "US", "FR")), text.strip(), rng.choice(("", "1", "70000")))
        more = (rng.choice(("", "x" * 300)), *rng.choice((("", ""), ("0", "0"), ("1.25", "-7"))))
        lines.append(",".join((f"{address}/{length}", *cells, *more, rng.choice(("", "isp")))))
    return "\n".join(lines) + "\n"


@pytest.mark.long
@pytest.mark.parametrize(
    "text", [*map(huge_rows, _HUGE), *map(random_rows, map(random.Random, range(4)))]
)
def test_any_dataset(tmp_path: Path, text: str) -> None:
    path, _ = build_at(tmp_path, {"a.csv": text})
    with geolookup.open(path) as engine:
        methods = {"country": "location.country_code", "isp": "network.isp"}
        fit = [name for name, field in methods.items() if field in engine.metadata.fields]
        for schema in (*fit, "flat"):
            counts = engine.export(tmp_path / "a.mmdb", "mmdb", schema=schema, force=True)
            check(tmp_path / "a.mmdb", ExpectedRecords(engine, schema), 60, ["C"])
        assert counts["records"] < text.count("\n")  # special-purpose space has none
        assert maxminddb.open_database(tmp_path / "a.mmdb").get("10.1.2.3") is None
        again(engine, tmp_path)


# --- back into a dataset


def again(engine: geolookup.Engine, folder: Path) -> None:
    """Compile the flat export of a dataset: every answer is the same."""
    engine.export(folder / "flat.mmdb", "mmdb", force=True)
    recipe = (
        '[dataset]\nname = "again"\n[[source]]\nformat = "mmdb"\npath = "flat.mmdb"\nempty = "ok"\n'
    )
    (folder / "again.toml").write_text(recipe, encoding="utf-8")
    geolookup.build(folder / "again.toml", folder / "again", force=True)
    result = geolookup.diff(engine.path, folder / "again")
    for part in result.parts.values():
        for name, field in part.fields.items():
            assert (field.changed, field.null_lost, field.null_gained) == (0, 0, 0), name
