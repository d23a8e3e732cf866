"""MMDB files: every schema and tree layout, beside the library's own answers, and damaged ones.

Strategy: the value of an address is the one that the library finds there. MaxMind's own files are
read without a loss; ``own/test_own_columns.py`` has the value of each key.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.errors import BuildError
from tests.builder.sources.formats.mmdb_writing import MARKER, assembled, encoded, integer, mmdb
from tests.builder.sources.readings import OWN, Read, fails, fields, one, read_at
from tests.conftest import build_at
from tests.skips import needs, optional

maxminddb = optional("maxminddb")
pytestmark = needs("maxminddb")

CITY: dict[str, Any] = json.loads("""{
  "continent": {"code": "EU"},
  "country": {"iso_code": "NO", "names": {"en": "Norway"}},
  "registered_country": {"iso_code": "SE"},
  "subdivisions": [{"iso_code": "03", "names": {"en": "Oslo County"}}, {"iso_code": "x"}],
  "city": {"names": {"en": "Oslo", "de": "Oslo"}},
  "postal": {"code": "0150"},
  "location": {"latitude": 59.9, "longitude": 10.75, "time_zone": "Europe/Oslo",
               "weather_code": "NOXX0029"},
  "traits": {"autonomous_system_number": 64500, "autonomous_system_organization": "Acme AS",
             "isp": "Acme", "organization": "Acme Nord", "connection_type": "Cable/DSL",
             "user_type": "business"}
}""")
PLACE_FIELDS = (
    "country_code=NO; region_name=Oslo County; city_name=Oslo; latitude=59.9; longitude=10.75"
)
TIMED = f"{PLACE_FIELDS}; postal_code=0150; time_zone=Europe/Oslo"
OSLO = fields(
    f"{TIMED}; continent_code=EU; region_code=03; weather_code=NOXX0029; asn=64500; isp=Acme;"
    "asn_organization=Acme AS; organization=Acme Nord; connection_type=Residential;"
    "user_type=business"
)
LATIN = {"8.8.0.0/16": {"country_code": "NO"}, "2600:100::/32": {"country_code": "SE"}}


def recipe(path: str = "a.mmdb", extra: str = "") -> str:
    return one("mmdb", path, extra)


#: Schema: a record as JSON, and what it states. Those of IPinfo: test_mmdb_products.
SCHEMAS = {
    "MaxMind city": (json.dumps(CITY), OSLO),
    "registered only": ('{"registered_country": {"iso_code": "NO"}}', fields("country_code=NO")),
    "MaxMind, flat": (
        """{"isp": "Acme", "organization": "Nord", "connection_type": "Cellular",
        "autonomous_system_number": 64500, "autonomous_system_organization": "Acme AS"}""",
        fields(
            "isp=Acme; organization=Nord; connection_type=Mobile; asn=64500;"
            "asn_organization=Acme AS"
        ),
    ),
    "DB-IP": (
        """{"country": {"iso_code": "NO"}, "city": {"names": {"en": "Oslo"}},
        "location": {"weather_code": "NOXX0029", "latitude": 59.9, "longitude": 10.75},
        "traits": {"connection_type": "Cable", "user_type": "hosting", "isp": "Acme"}}""",
        fields(
            "country_code=NO; city_name=Oslo; weather_code=NOXX0029; latitude=59.9; isp=Acme;"
            "longitude=10.75; connection_type=Residential; user_type=hosting"
        ),
    ),
    "DB-IP plain": (
        '{"country": "NO", "continent": "EU"}',
        fields("country_code=NO; continent_code=EU"),
    ),
    "IPinfo legacy": (
        """{"city": "Oslo", "region": "Oslo County", "country": "NO", "lat": "59.9",
        "lng": "10.75"}""",
        fields(PLACE_FIELDS),
    ),
    "sapics country": ('{"country_code": "NO"}', fields("country_code=NO")),
    "sapics city": (
        """{"country_code": "NO", "state1": "Oslo County", "city": "Oslo", "postcode": "0150",
        "latitude": 59.9, "longitude": 10.75, "timezone": "Europe/Oslo"}""",
        fields(TIMED),
    ),
    "iplocate country": (
        '{"continent_code": "EU", "country_code": "NO", "country_name": "Norway"}',
        fields("continent_code=EU; country_code=NO"),
    ),
    "iplocate ASN": (
        """{"asn": 64500, "country_code": "SE", "name": "ACME", "org": "Acme AS",
        "domain": "a.example"}""",
        fields("asn=64500; asn_organization=Acme AS"),
    ),
}


def test_schemas_and_unknown_values(read: Read) -> None:
    for schema, (record, expected) in SCHEMAS.items():
        content = mmdb({"8.8.8.0/24": json.loads(record), "8.8.9.0/24": {}})
        reading = read({"a.mmdb": content}, recipe())
        assert (reading.source.read, reading.source.nulled.total()) == (2, 0), schema
        assert reading.ranges() == {"8.8.8.0/24": expected}, schema
    origin = {"latitude": 0.0, "longitude": 0.0}
    records = {
        "8.8.8.0/24": {"country": {"iso_code": "ZZ"}, "location": origin},
        "9.9.9.0/24": {"country": "NO", "continent": "EU", "location": {"latitude": 59.5}},
    }
    reading = read({"a.mmdb": mmdb(records)}, recipe())
    assert reading.source.nulled == {"latitude": 1}  # without a longitude
    norway = fields("country_code=NO; continent_code=EU")
    assert reading.ranges() == {"9.9.9.0/24": norway}
    content = mmdb({"8.8.8.0/24": {"country_code": "QQ"}, "8.8.9.0/24": {"country_code": "NO"}})
    assert read({"a.mmdb": content}, recipe()).source.nulled == {"country_code": 1}


@pytest.mark.parametrize("bits", [24, 28, 32])
@pytest.mark.parametrize(("version", "aliases"), [(4, False), (6, False), (6, True)])
def test_trees(read: Read, bits: int, version: int, aliases: bool) -> None:
    records: dict[str, Any] = {
        "8.0.0.0/8": {"country_code": "US"},
        "9.9.8.0/24": {},
        "8.8.8.0/24": {"country_code": "NO"},
        "255.255.255.255/32": {"country_code": "SE"},
        "9.9.9.9/32": {"country_code": "FI"},
    }
    if version == 6:
        records |= {"2600::/12": {"country_code": "DK"}, "2600:1::1/128": {"country_code": "IS"}}
    content = mmdb(records, version=version, bits=bits, aliases=aliases)
    reading = read({"a.mmdb": content}, recipe())
    reader = maxminddb.open_database(io.BytesIO(content), maxminddb.MODE_FD)
    assert reading.source.read == len(list(reader))
    addresses = ["8.8.8.8", "8.8.9.0", "8.255.255.255", "9.9.9.9", "9.9.9.8", "7.1.1.1", "9.9.8.8"]
    if version == 6:
        addresses += ["2600::1", "2600:1::1", "2600:1::2", "2610::1", "2a00::1"]
    expected = [(reader.get(address) or {}).get("country_code") for address in addresses]
    assert reading.values("country_code", *addresses) == expected


def test_mapped_fields(read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = {"place": {"town": ("A", {"de": "Oslo"})}, "cc": "NO", "zip": 150, "7": "Acme"}
    places = 'city_name = "place.town.1.de", country_code = "cc", postal_code = "zip"'
    fields = f'columns = {{ {places}, isp = "7" }}'
    content = mmdb({"8.8.8.0/24": record, "8.8.9.0/24": {"place": "none", "cc": True}})
    reading = read({"a.mmdb": content}, recipe(extra=fields))
    location = {"city_name": "Oslo", "country_code": "NO", "postal_code": "150", "isp": "Acme"}
    assert reading.stated("8.8.8.8", "8.8.9.9") == [location, {}]
    # As are schemas, which must be known, and the library, which must be installed.
    files = {"a.mmdb": mmdb(LATIN)}
    for mapping, words in WRONG_FIELDS.items():
        assert words in str(fails(tmp_path, files, recipe(extra=mapping)))
    error = fails(tmp_path, {"a.mmdb": mmdb(UNKNOWN)}, recipe())
    assert "none of its fields are known (a.b, score)" in str(error)
    monkeypatch.setitem(sys.modules, "maxminddb", None)
    assert "geolookup[mmdb]" in str(fails(tmp_path, files, recipe()))


DOTTED = 'columns = { country_code = "geo.cc", city_name = "geo.city.en", isp = "net.isp" }'


def test_keys_with_dots(read: Read) -> None:
    """Are steps of a path like others, also beside records that nest them."""
    dotted = {"geo.cc": "NO", "geo": {"city.en": "Oslo"}, "net.isp": "Acme"}
    nested = {"geo": {"cc": "SE", "city": {"en": "Lund"}}, "net": {"isp": "Nord"}}
    halves = {"geo.city": {"en": "Bergen"}, "geo": {"cc": "NO"}, "net": "none"}
    flat = {"location.country_code": "NO", "network.isp": "Acme"}
    records = {"8.8.8.0/24": dotted, "8.8.9.0/24": nested, "9.9.9.0/24": halves}
    reading = read({"a.mmdb": mmdb(records)}, recipe(extra=DOTTED))
    assert reading.ranges() == {
        "8.8.8.0/24": fields("country_code=NO; city_name=Oslo; isp=Acme"),
        "8.8.9.0/24": fields("country_code=SE; city_name=Lund; isp=Nord"),
        "9.9.9.0/24": fields("country_code=NO; city_name=Bergen"),
    }
    mapped = 'columns = { isp = "network.isp", country_code = "location.country_code" }'
    reading = read({"a.mmdb": mmdb({"8.8.8.0/24": flat})}, recipe(extra=mapped))
    assert reading.ranges() == {"8.8.8.0/24": fields("country_code=NO; isp=Acme")}


WRONG_FIELDS = {
    'columns = { isp = "country_cod" }': "did you mean 'country_code'?",
    'columns = { isp = "country_code.en" }': "no record has a value at 'country_code.en'",
}
UNKNOWN = {"8.8.8.0/24": {"score": 1, "a": {"b": "c"}}}


CODED = 'columns = { country_code = "." }'
FIRST = 'columns = { country_code = "0", city_name = "1.en" }'
OTHER = "a record of another kind"


def test_records_that_are_texts_numbers_or_lists(read: Read, tmp_path: Path) -> None:
    """Mapped by ``.`` or a position; a record of another kind is rejected and counted."""
    texts = {"8.8.8.0/24": "NO", "8.8.9.0/24": "QQ", "2600:100::/32": "SE"}
    reading = read({"a.mmdb": mmdb(texts)}, recipe(extra=CODED))
    assert reading.by_network("country_code") == {"8.8.8.0/24": "NO", "2600:100::/32": "SE"}
    assert (reading.source.read, reading.source.nulled) == (3, {"country_code": 1})
    numbers = {"8.8.8.0/24": 64500, "8.8.9.0/24": 0}
    reading = read({"a.mmdb": mmdb(numbers)}, recipe(extra='columns = { asn = "." }'))
    assert reading.ranges() == {"8.8.8.0/24": {"asn": 64500}}
    lists = {"8.8.8.0/24": ("NO", {"en": "Oslo"}), "8.8.9.0/24": ()}
    reading = read({"a.mmdb": mmdb(lists)}, recipe(extra=FIRST))
    assert reading.ranges() == {"8.8.8.0/24": {"country_code": "NO", "city_name": "Oslo"}}
    for records, listed in ((texts, "."), (lists, "0, 1.en")):
        error = fails(tmp_path, {"a.mmdb": mmdb(records)}, recipe())
        assert error.problem == f"none of its fields are known ({listed})"
        assert f'columns = {{ country_code = "{listed[0]}" }}' in (error.remedy or "")


def test_mixed_records(read: Read) -> None:
    mixed = {
        "8.8.8.0/24": {"country_code": "NO"},
        "8.8.9.0/24": "SE",
        "9.9.9.0/24": ("FI",),
        "2600:100::/32": 7,
    }
    networks = [*mixed]
    for mapping, known, rejected in (
        ("", {"8.8.8.0/24": "NO"}, networks[1:]),
        (CODED, {"8.8.9.0/24": "SE"}, [networks[2]]),
        ('columns = { country_code = "0" }', {"9.9.9.0/24": "FI"}, [networks[1], networks[3]]),
    ):
        reading = read({"a.mmdb": mmdb(mixed)}, recipe(extra=mapping))
        assert reading.by_network("country_code") == known, mapping
        assert reading.source.rejected == {OTHER: len(rejected)}, mapping
        assert [row.text for row in reading.rejects] == rejected, mapping


def test_a_key_of_ours_rules_a_product_out(read: Read) -> None:
    """IPinfo's older Location has the code of a region in ``region``."""
    record = {"country_code": "NO", "city": "Oslo", "region": "Oslo", "region_name": "Oslo"}
    record |= {"region_code": "03", "asn": "AS64500", "as_name": "Acme"}
    reading = read({"a.mmdb": mmdb({"8.8.8.0/24": record})}, recipe())
    assert (
        reading.at("8.8.8.8").items() >= {"region_code": "03", "asn_organization": "Acme"}.items()
    )


def test_lists_of_declared_columns_need_no_mapping(read: Read) -> None:
    declared = '[columns]\ntags = "texts"\n'
    records = {"8.8.8.0/24": {"isp": "Acme", "tags": ["a", 1]}, "8.8.9.0/24": {"tags": "b;c"}}
    reading = read({"a.mmdb": mmdb(records)}, declared + recipe())
    assert reading.by_network("own.tags") == {"8.8.8.0/24": '["a","1"]', "8.8.9.0/24": '["b","c"]'}
    assert reading.source.unread == ()


@pytest.mark.parametrize("key", ["customer", "own.customer", "own_customer"])
def test_a_declared_column_that_few_records_have(read: Read, tmp_path: Path, key: str) -> None:
    """The sample that shows the schema lacks it; one that no record has is not read."""
    declared = '[columns]\ncustomer = "text"\ntags = "texts"\nrisk = "integer"\n'
    records: dict[str, Any] = {
        f"9.{at >> 8}.{at & 255}.0/24": {"isp": f"{at}"} for at in range(9000)
    }
    records["9.0.1.0/24"] = {key: "Acme", "tags": ["a", "b"]}
    for kind in ("Test", "geolookup-flat"):
        reading = read({"a.mmdb": mmdb(records, kind=kind)}, declared + recipe())
        assert reading.at("9.0.1.1") == {"own.customer": "Acme", "own.tags": '["a","b"]'}, kind
        assert "own.risk" not in reading.source.fields
    # The name of a vendor's flag, in an export.
    records["9.0.1.0/24"] = {"is_vpn": True}
    content = mmdb(records, kind="geolookup-flat")
    for type_, expected in (("boolean", True), ("text", "true")):
        reading = read({"a.mmdb": content}, f'[columns]\nis_vpn = "{type_}"\n' + recipe())
        assert reading.at("9.0.1.1") == {"own.is_vpn": expected}
    # A file of which nothing else is known is refused as before.
    error = fails(tmp_path, {"a.mmdb": mmdb(UNKNOWN)}, declared + recipe())
    assert "none of its fields are known" in error.problem


def test_a_file_without_networks_is_read(read: Read, tmp_path: Path) -> None:
    empty = assembled([(1, 1)], b"")
    for mapping in ("", CODED):
        reading = read({"a.mmdb": empty}, recipe(extra=mapping))
        assert (reading.source.read, reading.ranges()) == (0, {})
    with pytest.raises(BuildError, match="no usable row"):
        build_at(tmp_path, {"a.mmdb": empty}, recipe(), empty="")
    error = fails(tmp_path, {"a.mmdb": mmdb({"8.8.8.0/24": {}})}, recipe())
    assert "none of its fields are known (none at all)" in error.problem


def test_all_of_ipv4_as_one_leaf(read: Read) -> None:
    content = mmdb({"0.0.0.0/0": {"country_code": "NO"}, "2600::/12": {"country_code": "SE"}})
    reading = read({"a.mmdb": content}, recipe())
    assert reading.values("country_code", "8.8.8.8", "2600::1", "2a00::1") == ["NO", "SE", None]


# Damage


LOOPS = {
    "to itself": [(0, 0)],
    "to each other": [(1, 1), (0, 0)],
    "all to all": [(at * 7 % 50, at * 11 % 50) for at in range(50)],
    "one side": [(0, 1)],
}


def test_a_tree_that_leads_back_or_outside_ends(tmp_path: Path) -> None:
    for loop, nodes in LOOPS.items():
        for version in (4, 6):
            content = assembled(nodes, encoded({"country_code": "NO"}), version=version)
            error = fails(tmp_path, {"a.mmdb": content}, recipe())
            assert "not an MMDB file, or damaged (" in str(error), loop
    for at in (2, 15, 1000, (1 << 28) - 2):
        content = assembled([(1 + at, 1)], encoded({"country_code": "NO"}))
        assert "damaged" in str(fails(tmp_path, {"a.mmdb": content}, recipe())), at


NONE = {
    "text": b"network,country_code\n8.8.8.0/24,US\n" * 100,
    "marker": MARKER,
    "markers": MARKER * 1000,
    "no keys": MARKER + encoded({}),
    "no map": MARKER + encoded("x"),
    "zeros": bytes(100_000),
    "empty tree": assembled([], b""),
    "version 5": assembled([(1, 1)], b"", version=5),
    "bits": assembled([(1, 1)], b"", bits=24).replace(integer(5, 24), integer(5, 25)),
    "count": assembled([(1, 1)], b"").replace(integer(6, 1), integer(6, 255)),
}


def test_other_files_are_one_error(tmp_path: Path) -> None:
    for name, content in NONE.items():
        for path, data in (("a.mmdb", content), ("a.mmdb.gz", gzip.compress(content))):
            error = fails(tmp_path, {path: data}, recipe(path))
            assert error.path == str(tmp_path / path), name
            assert "\n" not in str(error), name


# Real files


def test_files_of_maxmind(read: Read, shared_data: Path) -> None:
    """Every record is read, and no value is invalid."""
    folder = shared_data / "maxmind-db" / "test-data"
    paths = [path for path in folder.glob("Geo*-Test.mmdb") if "User-Count" not in path.name]
    assert len(paths) > 12
    for path in paths:
        reading = read({}, OWN + one("mmdb", str(path)))
        with maxminddb.open_database(path) as reader:
            assert (reading.source.read, reading.source.nulled) == (len([*reader]), {}), path.name
        assert len(reading.ranges()) > 1


def test_bad_files(tmp_path: Path, shared_data: Path) -> None:
    result = sorted((shared_data / "maxmind-db" / "bad-data").rglob("*.mmdb"))
    assert len(result) == 21
    told, readable = list[str](), list[str]()
    for path in result:
        extra = 'columns = { isp = "ip" }' if "libmaxminddb-empty" in path.name else ""
        try:
            read_at(tmp_path, {}, recipe(str(path), extra))
        except BuildError as error:
            told.append(str(error))
        else:
            readable.append(path.name)
            dataset, _ = build_at(tmp_path, {}, recipe(str(path), extra))
            assert geolookup.verify(dataset).damages == ()
    empty = "libmaxminddb-empty-{}-last-in-metadata.mmdb"
    assert readable == [empty.format("array"), empty.format("map")]
    assert "\n" not in "".join(told)
    for name, reason in REFUSED.items():
        path = shared_data / "maxmind-db" / "test-data" / f"{name}.mmdb"
        assert reason in str(fails(tmp_path, {}, recipe(str(path)))), name


REFUSED = {
    "GeoIP2-City-Test-Broken-Double-Format": "damaged",
    "GeoIP2-City-Test-Invalid-Node-Count": "damaged",
    "MaxMind-DB-test-broken-pointers-24": "damaged",
    "MaxMind-DB-test-broken-search-tree-24": "damaged",
    "MaxMind-DB-string-value-entries": "none of its fields are known (.);",
}
