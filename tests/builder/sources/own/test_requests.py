"""What recipes ask for: declared names, names that a source maps, errors, and what check shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.errors import BuildError
from tests.builder.sources.formats import test_ip2location, test_ipinfo, test_maxmind
from tests.builder.sources.formats.mmdb_writing import mmdb
from tests.builder.sources.own.deliveries import batches, delivered
from tests.builder.sources.readings import Read
from tests.skips import needs

NET = "8.8.4.0/24"
PRIVACY: dict[str, str | bytes] = {"a.csv": test_ipinfo.PRODUCTS["privacy"][0]}
DOMAIN: dict[str, str | bytes] = {"a.csv": "network,domain\n8.8.4.0/24,a.example\n"}
CITY: dict[str, str | bytes] = {
    "city.csv": test_maxmind.BLOCKS["city"] + "8.8.4.0/24,11,20,,0,1,1234,34.7,33.1,20,1\n",
    "en.csv": test_maxmind.EN,
}
DB26: dict[str, str | bytes] = {"DB26.CSV": test_ip2location.ipv4(26)}


def mapped(folder: Path, files: Mapping[str, str | bytes], format_: str, text: str) -> Any:
    """The own columns of 8.8.4.0/24, or of the only network, for ``columns`` of a source."""
    path = "*.csv" if len(files) > 1 else next(iter(files))
    columns = {"mine": "text", "flag": "boolean", "number": "integer"}
    rows = delivered(folder, files, format_, path, f"columns = {text}", columns=columns)
    return rows.get(NET) or next(filter(None, rows.values()), {})


def test_a_source_maps_offered_names_and_columns_of_its_files(tmp_path: Path) -> None:
    cases: list[tuple[Mapping[str, str | bytes], str, str, dict[str, Any]]] = [
        (PRIVACY, "ipinfo", '{ flag = "is_hosting" }', {"flag": True}),
        (PRIVACY, "ipinfo", '{ "own.flag" = "is_vpn" }', {"flag": False}),
        (PRIVACY, "ipinfo", '{ mine = "hosting" }', {"mine": "true"}),
        (DOMAIN, "maxmind", '{ mine = "domain" }', {"mine": "a.example"}),
        (CITY, "maxmind", '{ flag = "is_satellite_provider" }', {"flag": True}),
        (CITY, "maxmind", '{ number = "accuracy_radius" }', {"number": 20}),
        (CITY, "maxmind", '{ mine = "city_name_en" }', {"mine": "Alpha Town"}),
        # In one of the files; a product without a field is read for its own columns only.
        ({**CITY, **DOMAIN}, "maxmind", '{ mine = "domain" }', {"mine": "a.example"}),
        (DB26, "ip2location", '{ number = "elevation" }', {"number": 439}),
    ]
    for at, (files, format_, text, known) in enumerate(cases):
        folder = tmp_path / str(at)
        folder.mkdir()
        assert mapped(folder, files, format_, text) == known, text


def test_names_in_several_languages(tmp_path: Path) -> None:
    """Of Locations in each; a language without a file, or without a name, is unknown."""
    pt = test_maxmind.DE.replace(",de,", ",pt-BR,").replace("Alphastadt", "Alfa")
    names = ("en", "de", "pt_br", "zh_cn")
    columns = {f"city_name_{name}": "text" for name in names}
    files = {**CITY, "de.csv": test_maxmind.DE, "pt.csv": pt}
    known = {"city_name_en": "Alpha Town", "city_name_de": "Alphastadt", "city_name_pt_br": "Alfa"}
    for locale in ("en", "de"):
        rows = delivered(
            tmp_path, files, "maxmind", "*.csv", f'locale = "{locale}"', columns=columns
        )
        assert rows == {NET: known}
    with pytest.raises(BuildError, match=r"no file of \*\.csv has 'city_name_zh_cn'"):
        batches(
            tmp_path,
            files,
            "maxmind",
            "*.csv",
            {"mine": "text"},
            'columns = { mine = "city_name_zh_cn" }',
        )


@needs("maxminddb")
def test_keys_of_mmdb_files(tmp_path: Path) -> None:
    record = {
        "country": {"iso_code": "CH"},
        "traits": {"is_anycast": True, "is_anonymous_vpn": False, "score": 7},
    }
    file: dict[str, str | bytes] = {"a.mmdb": mmdb({NET: record}, kind="GeoIP2-City")}
    cases = {
        '{ flag = "traits.is_anycast", number = "traits.score" }': {"flag": True, "number": 7},
        '{ flag = "is_vpn" }': {"flag": False},
        '{ mine = "traits.score", country_code = "country.iso_code" }': {"mine": "7"},
    }
    columns = {"mine": "text", "flag": "boolean", "number": "integer"}
    for text, known in cases.items():
        assert mapped(tmp_path, file, "mmdb", text) == known
        [batch] = batches(tmp_path, file, "mmdb", "a.mmdb", columns, f"columns = {text}")
        # The product still decides the fields, unless the recipe names their keys.
        assert batch.fields["country_code"].to_pylist() == ["CH"]
        assert ("city_name" in batch.fields) == ("country_code" not in text)
    # City files may have a domain, but this one does not: the type is free.
    assert batches(tmp_path, file, "mmdb", "a.mmdb", {"domain": "integer"})
    with pytest.raises(BuildError, match=r"columns\.is_anycast is text"):
        batches(tmp_path, file, "mmdb", "a.mmdb", {"is_anycast": "text"})
    other = {"a.mmdb": mmdb({NET: {"x": {"y": "z"}}})}
    assert mapped(tmp_path, other, "mmdb", '{ mine = "x.y" }') == {"mine": "z"}
    with pytest.raises(BuildError, match=r"no record has a value at 'x\.z'; did you mean 'x\.y'"):
        mapped(tmp_path, other, "mmdb", '{ mine = "x.z" }')


#: Types in ``[columns]`` and the mapping of a source, for a file of IPinfo: the error.
ERRORS = {
    ("is_vpn", "text", ""): (
        'columns.is_vpn is text, but is_vpn is boolean; write is_vpn = "boolean" in [columns]'
    ),
    ("mine", "text", '{ mine = "is_vpn" }'): (
        'columns.mine is text, but is_vpn is boolean; write mine = "boolean" in [columns]'
    ),
    ("mine", "boolean", '{ mine = "is_vpm" }'): (
        "source.columns: no file of a.csv has 'is_vpm'; did you mean 'is_vpn'?"
    ),
    ("mine", "text", '{ mine = "network" }'): "no file of a.csv has 'network'",
    ("mine", "text", '{ country_code = "vpn" }'): (
        "source.columns: ipinfo finds country_code itself; map own columns only"
    ),
    ("mine", "text", '{ other = "vpn" }'): "source.columns: no field 'other'",
    ("mine", "text", "{ mine = 1 }"): "source.columns.mine is not a name",
    ("mine", "text", '"vpn"'): "source.columns is not a table of names",
    ("mine", "text", "{}"): "source.columns is not a table of names",
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(tmp_path: Path, case: tuple[str, str, str]) -> None:
    name, kind, text = case
    options = [f"columns = {text}"] if text else []
    with pytest.raises(BuildError) as caught:
        batches(tmp_path, PRIVACY, "ipinfo", "a.csv", {name: kind}, *options)
    assert ERRORS[case] in str(caught.value)
    assert caught.value.remedy


def test_only_a_reader_that_delivers_a_name_checks_its_type(tmp_path: Path) -> None:
    generic = {"a.csv": "network,country_code,is_vpn\n8.8.4.0/24,CH,maybe\n"}
    batches(tmp_path, generic, "csv", "a.csv", {"is_vpn": "text"})
    asn: dict[str, str | bytes] = {"a.csv": test_ipinfo.PRODUCTS["asn"][0]}
    assert batches(tmp_path, asn, "ipinfo", "a.csv", {"is_vpn": "text"})


def test_the_fields_of_a_source_leave_own_columns_out(tmp_path: Path) -> None:
    columns = {"is_hosting": "boolean", "is_vpn": "boolean"}
    options = 'fields = ["is_vpn", "user_type"]'
    rows = delivered(tmp_path, PRIVACY, "ipinfo", "a.csv", options, columns=columns)
    assert rows == {NET: {"is_vpn": False}}
    with pytest.raises(BuildError, match="or declare domain in"):
        batches(
            tmp_path, DOMAIN, "maxmind", "a.csv", {"domain": "text"}, 'fields = ["country_code"]'
        )


def test_the_mapping_decides_a_format(tmp_path: Path) -> None:
    """A file that the generic CSV and a vendor's reader can read."""
    file = {"a.csv": "network,country,continent\n8.8.4.0/24,CH,EU\n"}
    generic = 'columns = { network = "network", country_code = "country", mine = "continent" }'
    rows = batches(tmp_path, file, "auto", "a.csv", {"mine": "text"}, generic)
    assert rows[0].fields.keys() == {"country_code", "own.mine"}
    own = 'columns = { mine = "country" }'
    rows = batches(tmp_path, file, "auto", "a.csv", {"mine": "text"}, own)
    assert rows[0].fields.keys() == {"country_code", "continent_code", "own.mine"}


def test_a_dataset_has_them(read: Read) -> None:
    """Through the compiler: by row, with the type of the column."""
    recipe = (
        '[dataset]\nname = "t"\n[columns]\nis_vpn = "boolean"\nproxy_provider = "text"\n'
        '[[source]]\nformat = "ipinfo"\npath = "a.csv"\n'
    )
    reading = read({"a.csv": test_ipinfo.PRODUCTS["privacy, legacy"][0]}, recipe)
    assert reading.at("8.8.4.4") == {
        "user_type": "consumer_privacy_network",
        "own.is_vpn": True,
        "own.proxy_provider": "Example VPN",
    }


def test_check_names_them(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(str(PRIVACY["a.csv"]), encoding="utf-8")
    recipe = tmp_path / "r.toml"
    recipe.write_text(
        '[dataset]\nname = "t"\n[columns]\nis_vpn = "boolean"\nmine = "boolean"\n'
        '[[source]]\nformat = "ipinfo"\npath = "a.csv"\ncolumns = { mine = "is_tor" }\n',
        encoding="utf-8",
    )
    more = "proxy_provider"
    lines = {
        tmp_path / "a.csv": f"is_proxy, is_vpn, is_tor, is_relay, is_hosting, {more}",
        recipe: f"is_proxy, is_relay, is_hosting, {more}",
    }
    for name, names in lines.items():
        report = list(geolookup.check(name).lines())
        assert f"  offers      {names} (declare own columns in [columns])" in report
