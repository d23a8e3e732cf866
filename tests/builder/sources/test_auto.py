"""Recognising: every reader's own fixtures, deliveries as they come, and what is not certain."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.builder.building import fails
from tests.builder.sources.formats import (
    test_dbip,
    test_generic_typed,
    test_geofeed,
    test_ip2location,
    test_ip2proxy,
    test_ipinfo,
    test_maxmind,
    test_prefix_lists,
    test_registries,
    test_sapics,
)
from tests.builder.sources.formats.mmdb_writing import mmdb
from tests.builder.sources.reading.test_inputs import zipped
from tests.builder.sources.readings import one, read_at
from tests.internals.builder import FORMATS, auto, loading
from tests.skips import needs
from tests.tiers import scaled

LATIN = {"8.8.0.0/16": {"country_code": "NO"}, "2600:100::/32": {"country_code": "SE"}}
HOSTING = 'values = { user_type = "hosting" }'
IPINFO = {f"{product}.csv": text for product, (text, _) in test_ipinfo.PRODUCTS.items()}
FILES: dict[str, dict[str, str | bytes]] = {
    "cidr-list": {"a.txt": test_prefix_lists.HOSTERS, "b": "\ufeff\n ; x\n2600::/32\n"},
    "cloud": {
        **{f"{name}.json": json.dumps(item) for name, item in test_prefix_lists.DOCUMENTS.items()},
    },
    "csv": {
        "a.csv": "network,isp\n8.8.8.0/24,x\n",
        "b.csv": "\ufeffconnection_type,network\r\nMobile,8.8.8.0/24\r\n",
        "c.csv": "first,last,continent_code,country_code\n8.8.8.0,8.8.8.9,EU,CH\n",
        "d.csv": "network,continent_code,country_code\n8.8.8.0/24,EU,CH\n",
    },
    "dbip": {
        f"dbip-{layout}-2026-11.csv": test_dbip.rows(remainder)
        for layout, (remainder, _) in test_dbip.LAYOUTS.items()
    },
    "geofeed": {
        "a.csv": test_geofeed.FEED,
        "b.csv": "8.8.8.0/24,US\n9.9.9.9,,,,\n",
        "c.csv": test_geofeed.FEED.encode("utf-16"),
    },
    "ip2location": {
        f"IP2LOCATION-LITE-DB{number}{suffix}.CSV": write(number)
        for number in test_ip2location.DATABASES
        for suffix, write in (("", test_ip2location.ipv4), (".IPV6", test_ip2location.ipv6))
    },
    "ip2proxy": {
        f"IP2PROXY-LITE-PX{number}{suffix}.CSV": write(number)
        for number in (1, 12)
        for suffix, write in (("", test_ip2proxy.ipv4), (".IPV6", test_ip2proxy.ipv6))
    },
    "ip2region": {"a.txt": test_sapics.REGIONS, "b.txt": test_sapics.WITHOUT_CODES},
    "ipinfo": {**IPINFO, "a.json": test_ipinfo.written(IPINFO["plus.csv"])["json"]},
    "iplocate": {"a.csv": test_dbip.IPLOCATE_COUNTRY, "b.csv": test_dbip.IPLOCATE_ASN},
    "iptoasn": {
        "a.tsv": test_sapics.V4,
        "b": test_sapics.V6,
        "u32.tsv": test_sapics.as_integers(test_sapics.V4, "\t"),
    },
    "maxmind": {
        **test_maxmind.CITY_FILES,
        "GeoIP2-Connection-Type-Blocks-IPv4.csv": "network,connection_type\n8.8.8.0/24,Cellular\n",
        "asn.csv": f"{test_maxmind.BLOCKS['asn']}8.8.8.0/24,64500,x\n",
        "providers.csv": f"{test_maxmind.PROVIDERS}1,x,x,1,x,,,,\n",
    },
    "jsonl": {"a.json": test_generic_typed.as_json(test_generic_typed.ROWS)},
    "parquet": {"a": test_generic_typed.as_parquet(test_generic_typed.ROWS)},
    "mmdb": {"a.mmdb": mmdb(LATIN), "renamed": mmdb(LATIN), "a.gz": gzip.compress(mmdb(LATIN))},
    "pfx2as": {"a": test_registries.CAIDA, "b.dat": test_registries.PYASN},
    "rir": {"a": test_registries.EXTENDED, "b": test_registries.PLAIN},
    "sapics": {
        "asn-country-ipv4.csv": test_sapics.COUNTRY,
        "dbip-country-ipv6.csv": test_sapics.COUNTRY6,
        "integers.csv": test_sapics.as_integers(test_sapics.COUNTRY),
        "asn-ipv4.csv": test_sapics.ASN,
        "asn-ipv4-num.csv": test_sapics.as_integers(test_sapics.ASN),
        "a.csv": test_sapics.DATA,
        "b.csv": test_sapics.README,
        "c.csv": test_sapics.as_integers(test_sapics.DATA),
        "d.csv": test_sapics.as_integers(test_sapics.README),
    },
    "tor": {"torbulkexitlist": test_prefix_lists.BULK, "a.txt": test_prefix_lists.EXITS},
}
LIBRARIES = {"mmdb": "maxminddb"}


def delivered(files: Mapping[str, str | bytes]) -> bytes:
    """An archive as vendors make it, with an entry for its folder."""
    return zipped({"delivery/": "", **{f"delivery/{name}": item for name, item in files.items()}})


def detected(folder: Path, path: str, *options: str) -> str:
    """The format that files lying in a folder are detected as."""
    (folder / "recipe.toml").write_text(one("auto", path, *options), encoding="utf-8")
    plan = auto.detect_formats(loading.load(folder / "recipe.toml"))
    return plan.sources[0].format


def beside(name: str) -> dict[str, str | bytes]:
    """The files that some files of a format need beside them."""
    if name != "maxmind":
        return {}
    blocks = f"{test_maxmind.BLOCKS['asn']}8.8.8.0/24,1,x\n"
    return {"asn-blocks.csv": blocks, "places-en.csv": test_maxmind.EN}


def test_every_format_is_tried() -> None:
    assert set(FILES) == set(FORMATS)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs(*LIBRARIES.get(name, "").split())) for name in FILES]
)
def test_a_file_of_each_kind(tmp_path: Path, name: str) -> None:
    """What needs other files beside it (Locations), or another option, may fail behind that."""
    options = [HOSTING] if name == "cidr-list" else []
    for at, (file, content) in enumerate(FILES[name].items()):
        folder = tmp_path / str(at)
        folder.mkdir()
        files = {file: content, **beside(name)}
        path = "*.csv" if name == "maxmind" else file
        if at == 0:
            reading = read_at(folder, files, one("auto", path, *options))
            assert reading.format == name
            assert any(stated for _, _, stated in reading.intervals())
        for written, data in files.items():
            (folder / written).write_bytes(data if isinstance(data, bytes) else data.encode())
        assert detected(folder, path, *options) == name, file


NO_RANGE = "no range in its first line, {}; if it is data of a vendor, name the format in a recipe"
ROWS = (
    'a text without known columns, {}; name its columns, such as format = "csv", {}header = false'
)
UNKNOWN = {
    "hello\nworld\n": NO_RANGE.format("'hello'"),
    "8.8.8.0/24,Switzerland,Zurich,Winterthur\n": (
        ROWS.format("'8.8.8.0/24,Switzerland,Zurich,Winterthur'", "")
        + ", columns = { network = 1 }"
    ),
    # A geofeed with names of regions is no IP2Location DB3, whose third cell is the country.
    **{
        f"{line}\n": ROWS.format(repr(line), "") + ", columns = { network = 1, country_code = 2 }"
        for line in (
            "5.0.0.0/22,DE,Bayern,Berlin,",
            "5.0.0.0/22,DE,Bayern,Berlin",
            "5.0.0.0/22,DE,Bayern,Berlin,10115",
            '5.0.0.0/22,"DE","Bayern","Berlin",""',
            '"5.0.0.0/22","DE","Bayern","Berlin","10115"',
        )
    },
    "1.0.0.0\t1.0.0.255\tCH\n": (
        ROWS.format(r"'1.0.0.0\t1.0.0.255\tCH'", r'delimiter = "\t", ')
        + ", columns = { first = 1, last = 2, country_code = 3 }"
    ),
    "1.0.0.0;1.0.0.255;CH\n": ROWS.format("'1.0.0.0;1.0.0.255;CH'", 'delimiter = ";", '),
    "\n\n": NO_RANGE.format("''"),
    # Its range is right of its first line, which is a title or a comment.
    "# x\nzz9,8.8.8.0/24,US,US-TX,Dallas,\n": NO_RANGE.format("'# x'"),
    "<here>" + "x" * 1000: NO_RANGE.format("'<here>" + "x" * 54 + "'"),
    '{"a": \n': "this looks like JSON; write one object a line; if it is an error of the server, ",
    '[{"network": "8.8.8.0/24"}]': "this looks like JSON; write one object a line",
    "\0\1\2\3 no tree\n" * 50: "binary data of no known kind; export it as CSV, or fetch it again",
}


NEAR_MISSES = {
    "network,isp,colour\n8.8.8.0/24,x,red\n": (
        ":1: unknown column 'colour'; in a recipe, map what is to be read, columns ="
        ' { network = "network", isp = "isp" }'
    ),
    "cidr,country\n8.8.8.0/24,CH\n": (
        ":1: unknown column 'cidr'; in a recipe, map what is to be read, columns ="
        ' { network = "cidr", country_code = "country" }'
    ),
    "city_name,isp\nBern,x\n": ":1: no range in the header; name the range as network, or",
    "network;isp\n8.8.8.0/24;x\n": ":1: the delimiter is ';'; add delimiter = \";\" to the source",
    # Core of IPinfo knows city and asn, but not the name.
    "start_ip,end_ip,asn,name,domain,city\n8.8.8.0,8.8.8.9,AS1,x,x.com,Bern\n": (
        ":1: ipinfo (ASN) has no column 'city'; if the file is of ipinfo, write format ="
    ),
    '{"network": "8.8.8.0/24", "colour": 1}\n': ": unknown column 'colour'; in a recipe, map",
}


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_a_table_of_ones_own(tmp_path: Path, text: str) -> None:
    """A file with a header or keys is told what of it is unknown, wherever it lies."""
    error = fails(tmp_path, {"sites.data": text}, one("auto", "sites.data"))
    assert str(error).startswith(f"{tmp_path / 'sites.data'}{NEAR_MISSES[text]}")
    content = zipped({"sites.csv": text.encode(), "LICENSE.txt": b"x\n"})
    error = fails(tmp_path, {"a.zip": content}, one("auto", "a.zip"))
    assert str(error).startswith(f"{tmp_path / 'a.zip'}!sites.csv{NEAR_MISSES[text]}")


def test_what_nobody_or_several_claim(tmp_path: Path) -> None:
    target = tmp_path / "a.data"
    for text, shown in UNKNOWN.items():
        error = fails(tmp_path, {"a.data": text}, one("auto", "a.data"))
        assert str(error).startswith(f"{target}: not recognised: {shown}")
    for text, fitting in FITTING.items():
        error = fails(tmp_path, {"ranges.csv": text}, one("auto", "ranges.csv"))
        assert error.path == str(tmp_path / "ranges.csv")
        assert error.problem == f"fits several formats: {fitting}"
        assert error.remedy == 'name the format in a recipe: format = "…"'


FITTING = {
    test_dbip.rows("CH"): "dbip (country-lite), sapics (country)",
    test_sapics.ASN.replace(",Two", ",Two words"): (
        "dbip (asn-lite), ip2location (ASN), sapics (asn)"
    ),
    test_sapics.as_integers(test_sapics.ASN): "ip2location (ASN), sapics (asn)",
}


#: Name, text and option of a file, and what it is detected as.
NAMED: list[tuple[str, str | bytes, str, str]] = [
    ("dbip-country-lite-2026-11.csv", "5.1.0.0,5.1.3.255,CH\n", "", "dbip"),
    ("dbip-country-ipv4.csv", "5.1.0.0,5.1.3.255,CH\n", "", "sapics"),
    # A name without the content is nothing.
    ("dbip-city-lite.csv", "8.8.8.0/24,US,US-NJ,Newark,\n", "", "geofeed"),
    ("GeoLite2.mmdb", "8.8.8.8\n", HOSTING, "cidr-list"),
    # IP2Location quotes the cells behind a prefix, and a missing value is "-".
    ("b.csv", '5.1.4.0/22,"CH","Switzerland","Zurich","-"\n', "", "ip2location"),
    ("c.csv", '"5.1.4.0/22","CH","Switzerland"\n', "", "ip2location"),
    ("d.csv", "5.1.4.0/22,CH,Switzerland,Zurich,Winterthur,47.5,8.75\n", "", "ip2location"),
    ("DB3.CSV", "5.1.4.0/22,CH,Switzerland,Zurich,Winterthur\n", "", "ip2location"),
    ("geofeed.csv", "5.1.4.0/22,CH,,Winterthur,\n", "", "geofeed"),
    # The content tells the format alone; the option that its reader asks for may be given.
    ("a.csv", test_dbip.rows(test_dbip.LAYOUTS["city-lite"][0]), 'layout = "city-lite"', "dbip"),
    (
        "location",
        test_generic_typed.as_parquet([{"start_ip": "8.8.8.0", "end_ip": "8.8.8.9", "city": "x"}]),
        "",
        "ipinfo",
    ),
    # Long files are told by their beginning.
    ("long.csv", "network,isp\n" + "8.8.8.0/24,x\n" * 50_000, "", "csv"),
]


def test_names_decide_where_the_content_fits_several(tmp_path: Path) -> None:
    for name, content, option, expected in NAMED:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        assert detected(tmp_path, name, option) == expected, name
    fails(tmp_path, {"ip2asn.csv": "5.1.0.0,5.1.3.255,CH\n"}, one("auto", "ip2asn.csv"))


def test_options_and_files_of_several_formats(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"a.csv": "network,isp\n8.8.8.0/24,x\n"}
    error = fails(tmp_path, files, one("auto", "a.csv", "db = 5"))
    assert error.problem == "source.db is not an option of csv, the format detected for a.csv"
    assert error.path == str(tmp_path / "recipe.toml")
    error = fails(tmp_path, files, one("auto", "a.csv", "layot = 1"))
    assert str(error).endswith("unknown key source.layot; did you mean 'layout'?")
    files = {"a.csv": "network,isp\n8.8.8.0/24,x\n", "b.csv": test_dbip.IPLOCATE_COUNTRY}
    error = fails(tmp_path, dict(files), one("auto", "*.csv"))
    assert error.problem == "files of several formats: csv; iplocate"
    error = fails(tmp_path, {"b.csv": "what,ever\n"}, one("auto", "*.csv"))
    assert error.path == str(tmp_path / "b.csv")


SEMICOLONS = "network;country;city\n8.8.8.0/24;DE;Berlin\n"
MAPPED = 'columns = { network = "network", country_code = "country" }'
#: Name, text and options of a file: the options say how it is written.
WRITTEN: list[tuple[str, str | bytes, str, str]] = [
    ("a.csv", SEMICOLONS, f'delimiter = ";"\n{MAPPED}', "csv"),
    ("b.csv", "network|isp\n8.8.8.0/24|x\n", 'delimiter = "|"', "csv"),
    ("c.csv", "cidr,land\n8.8.8.0/24,DE\n", 'columns = { network = "cidr", asn = "land" }', "csv"),
    (
        "d.csv",
        "8.8.8.0/24;DE\n",
        'delimiter = ";"\nheader = false\ncolumns = { network = 1, country_code = 2 }',
        "csv",
    ),
]


def test_the_options_of_a_recipe_are_how_a_file_is_written(tmp_path: Path) -> None:
    for name, content, options, expected in WRITTEN:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        assert detected(tmp_path, name, options) == expected, name
    files: dict[str, str | bytes] = {"a.csv": SEMICOLONS}
    assert detected(tmp_path, "a.csv", 'delimiter = ";"') == "csv"
    error = fails(tmp_path, files, one("auto", "a.csv", MAPPED))
    assert error.problem == "the delimiter is ';'"


@pytest.mark.long
def test_a_folder_and_an_archive_of_nothing_known(tmp_path: Path) -> None:
    (tmp_path / "feeds").mkdir()
    (tmp_path / "feeds" / "a.csv").write_text(test_geofeed.FEED, encoding="utf-8")
    (tmp_path / "feeds" / "notes").write_text("about the feeds\n", encoding="utf-8")
    assert detected(tmp_path, "feeds") == detected(tmp_path, "feeds/*.csv") == "geofeed"
    pdf = "%PDF-1.4\n"
    of_files = {
        "": {},
        ", but a.txt, b.txt": {"a.txt": "hello\n", "b.txt": "world\n"},
        ", but a.pdf, b.pdf, c.pdf, and 1 more": {f"{x}.pdf": pdf for x in "abcd"},
    }
    for shown, files in of_files.items():
        error = fails(tmp_path, {"a.zip": delivered(files)}, one("auto", "a.zip"))
        assert error.path == str(tmp_path / "a.zip")
        assert error.problem == f"not recognised: no file of a known format{shown}"
    for letters in (b"x", b"\0", b"\xff", b"x\r", b'"', b"1,", b"|", b"\t"):
        for size in (1 << 8, scaled(1 << 17, 1 << 20)):
            error = fails(tmp_path, {"a.data": letters * size}, one("auto", "a.data"))
            assert error.problem.startswith("not recognised"), (letters, size)
            assert len(str(error)) < 1000
            assert "\n" not in str(error)
