"""What recipes ask for: declared names, names that a source maps, errors, and what check shows."""

from __future__ import annotations

from pathlib import Path

import pytest

import geolookup
from geolookup.errors import BuildError
from tests.builder.sources.formats import test_ipinfo, test_maxmind
from tests.builder.sources.own.deliveries import batches, delivered

NET = "8.8.4.0/24"
PRIVACY: dict[str, str | bytes] = {"a.csv": test_ipinfo.PRODUCTS["privacy"][0]}
CITY: dict[str, str | bytes] = {
    "city.csv": test_maxmind.BLOCKS["city"] + "8.8.4.0/24,11,20,,0,1,1234,34.7,33.1,20,1\n",
    "en.csv": test_maxmind.EN,
}


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
