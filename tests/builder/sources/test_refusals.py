"""Files and options that a format refuses, files of another kind: one line each.

Damaged ones: tests/fuzz/sources.py.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.builder.sources.formats import test_dbip as dbip
from tests.builder.sources.formats import test_ip2location as ip2location
from tests.builder.sources.formats import test_ip2proxy as ip2proxy
from tests.builder.sources.formats import test_maxmind as maxmind
from tests.builder.sources.formats import test_prefix_lists as cloud
from tests.builder.sources.formats import test_sapics as sapics
from tests.builder.sources.formats.test_geofeed import FEED
from tests.builder.sources.formats.test_prefix_lists import HOSTERS
from tests.builder.sources.formats.test_sapics import REGIONS
from tests.builder.sources.formats.test_sapics import V4 as IPTOASN
from tests.builder.sources.formats.test_vendor_traps import PROXIES
from tests.builder.sources.readings import one, refused
from tests.filesystem.test_signatures import FILES as KINDS
from tests.internals.builder import FORMATS, Options, check_recipe
from tests.internals.progress import Progress
from tests.skips import needs

SILENT = Progress(silent=True)
#: Options, content, words of the error.
Case = tuple[str, str | bytes, str]


def changed(document: dict[str, Any], **members: object) -> str:
    return json.dumps({**document, **members})


UNSORTED = sapics.README.replace("47.3667,8.5500", "a,b").replace("8064", "1.5")
NO_TABLE = "neither the file name nor the first rows show its table"
NO_PREFIXES, NO_STATISTICS = "not a file of origins", "not a file of delegations"
DEEP = changed(cloud.GOOGLE, deep=0).replace("0}", "[" * 100_000 + "]" * 100_000 + "}")
BIG = changed(cloud.GOOGLE, big=0).replace("0}", "9" * 5000 + "}")
#: Format and name of the file: what is refused.
REFUSED: dict[tuple[str, str], list[Case]] = {
    ("cidr-list", "list.txt"): [
        ("", HOSTERS, "source.values is missing"),
        ("values = {}", HOSTERS, "source.values is missing"),
        ('values = "hosting"', HOSTERS, "source.values is missing"),
        ('values = { user_typ = "hosting" }', HOSTERS, "did you mean 'user_type'?"),
        ('values = { user_type = "" }', HOSTERS, "user_type cannot be ''"),
        ("values = { user_type = [1] }", HOSTERS, "user_type cannot be [1]"),
        ("values = { isp = true }", HOSTERS, "isp cannot be True"),
    ],
    ("cloud", "a.json"): [
        ("", json.dumps(cloud.AWS)[:-40], "not JSON"),
        ("", json.dumps(cloud.AWS).encode() + b"\xff", "not JSON that can"),
        ("", changed(cloud.AWS, ipv6_prefixes=None), "no array 'ipv6_prefixes'"),
        ("", changed(cloud.ORACLE, regions=["cidrs"]), "no array 'cidrs'"),
        ("", changed(cloud.ORACLE, regions=[{"x": {"cidrs": 1}}]), "no array 'cidrs'"),
        ("", changed(cloud.CLOUDFLARE, result=["ipv6_cidrs", {"ipv4_cidrs": 3}]), "no array"),
        ("", DEEP, "not JSON that can"),
        ("", BIG, "not JSON that can"),
        ("", "{}", "not a file of ranges of"),
        ("", "", "empty file"),
    ],
    ("dbip", "a.csv"): [
        ('layout = "city-light"', dbip.rows("CH"), "source.layout is 'city-light'; write layout"),
        ("", dbip.rows("Switzerland,x"), NO_TABLE),
        ('layout = "country"', dbip.rows("CH"), "a.csv:1: 3 columns, but DB-IP country has 4"),
        (
            'layout = "country"',
            dbip.rows('64500,"Example"'),
            "a.csv:1: '64500' is not a valid continent",
        ),
        (
            'layout = "city-lite"',
            dbip.rows("EU,CH,a,b,c,d"),
            "a.csv:1: 'c' is not a valid latitude",
        ),
        (
            'layout = "country-lite"',
            dbip.rows("Switzerland"),
            "'Switzerland' is not a valid country",
        ),
    ],
    ("geofeed", "feed.csv"): [
        *(
            (f"encoding = {name}", FEED, "recipe.toml: unknown encoding")
            for name in ('"latin-x"', '"hex"', "8", '"a\\u0000"', '"undefined"', "[]")
        ),
        ('encoding = "utf-16"', FEED.encode("utf-16")[:-1], "not utf-16 after line"),
        ('encoding = "ascii"', b"\xff" * 9, "not ascii"),
        (
            "",
            FEED.replace("Newark", "箱根町").encode("shift_jis"),
            'feed.csv:2: not UTF-8; state its encoding in the recipe, such as encoding = "shift_',
        ),
    ],
    ("ip2location", "a.csv"): [
        *(
            (f"db = {value}", ip2location.ipv4(11), "source.db is")
            for value in ("27", "0", '"DB0"', "true", "1.5")
        ),
        ("db = 1", ip2location.ipv4(26), "27 columns, but IP2Location DB1 has 4"),
        ("db = 3", ip2location.ipv4(5), "8 columns, but IP2Location DB3 has 6; write db in"),
        ("db = 1", '"a","b","CH","Switzerland"\r\n', "'a' is not a valid ip_from"),
        (
            "db = 5",
            "5.1.4.0/22," + ip2location.quoted(ip2location.place_cells(7)),
            "7 columns, but IP2Location DB5 has 8; write db in the recipe",
        ),
    ],
    ("ip2proxy", "a.csv"): [
        ("", ip2proxy.ipv4(1), f"{NO_TABLE}; write db in the recipe, a number from 1 to 12"),
        (
            "db = 13",
            ip2proxy.ipv4(1),
            "source.db is 13; write db in the recipe, a number from 1 to 12",
        ),
        ('db = "PX2"', ip2proxy.ipv4(1), "a number from 1 to 12"),
        (
            "db = 2",
            ip2proxy.rows(["134743040", "134743295", "some", "CH", "Switzerland"]),
            "'some' is not a valid proxy_type, so this is not IP2Proxy PX2",
        ),
    ],
    ("ip2proxy", "PX3.CSV"): [
        (
            "",
            ip2proxy.ipv4(1),
            "4 columns, but IP2Proxy PX3 has 7; write db in the recipe, a number",
        )
    ],
    ("ip2region", "a.txt"): [
        ("", REGIONS.replace("|", ","), "a.txt:1: 1 column, but ip2region regions has 7"),
        ("", "5.1.0.0|5.1.3.255|中国|浙江省|杭州市|电信\n", "a.txt:1: 6 columns"),
        ("", "a|b|c|d|e|f|g\n", "a.txt:1: 'a' is not a valid start"),
    ],
    ("ipinfo", "a.csv"): [
        ("", PROXIES["a.csv"], "no field of a dataset holds its values; leave the file out, or")
    ],
    ("iptoasn", "a.tsv"): [
        ("", "5.1.0.0,5.1.3.255,64500,CH,X\n", "a.tsv:1: 1 column, but iptoasn asn has 5"),
        ("", "5.1.0.0\t5.1.3.255\tCH\t64500\tX\n", "a.tsv:1: 'CH' is not a valid AS_number"),
        (
            "",
            "5.1.0.0\t22\t64500\tSwitzerland\tX\n",
            "a.tsv:1: 'Switzerland' is not a valid country_code",
        ),
        ("", "start\tend\t64500\tCH\tX\n", "a.tsv:1: 'start' is not a valid start"),
        ("", f"{'y' * 1000}\tend\t64500\tCH\tX\n", "yyy…' is not a valid start"),
        ('countries = "yes"', IPTOASN, "neither true nor false"),
    ],
    ("maxmind", "a.csv"): [
        ("", maxmind.CITY, "a.csv: its Locations are missing"),
        ("", "network,colour\n8.8.8.0/24,red\n", "a.csv"),
        ("", "a,b\n1,2\n", "a.csv"),
        ("", "network,domain,domain\n8.8.8.0/24,x,y\n", "a.csv"),
        ("", maxmind.EN, "a.csv"),
        ("", maxmind.PROVIDER, "a.csv"),
    ],
    ("pfx2as", "table"): [
        ("", "a,b,c\n8.8.8.0/24,1,2\n", NO_PREFIXES),
        ("", "; nothing\n", NO_PREFIXES),
    ],
    ("rir", "delegated"): [
        ("", "network,country_code\n8.8.8.0/24,US\n", NO_STATISTICS),
        ("", "2|", NO_STATISTICS),
    ],
    ("csv", "a.csv"): [
        ("", '{"error": "quota exceeded"}\n', "this looks like JSON; write one object a line"),
    ],
    ("sapics", "a.csv"): [
        ("", "5.1.0.0,5.1.3.255\n", NO_TABLE),
        ("", "5.1.0.0,5.1.3.255,64500\n", "'64500' is not a valid country_code"),
        ("", "5.1.0.0,5.1.3.255,CH,Zurich\n", "'CH' is not a valid asn"),
        ("", UNSORTED, "is not a valid latitude"),
    ],
    ("sapics", "a.7z"): [("", b"7z\xbc\xaf\x27\x1c\x00\x04" + bytes(100), "7-Zip")],
}


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in REFUSED))
def test_what_a_format_refuses(tmp_path: Path, name: str) -> None:
    """The problem of a check is the error of a build."""
    for (format_, file), cases in REFUSED.items():
        for options, content, words in cases if format_ == name else ():
            error = refused(tmp_path, file, content, one(name, file, options))
            assert words in str(error), (file, options, content[:80])
            assert str(error).startswith(str(tmp_path)), (file, options)
            assert len(str(error)) < 1000, (file, options)
            [source] = check_recipe(tmp_path / "recipe.toml", Options(), SILENT).sources
            assert source.problem == str(error)


#: Options that a format demands, and the formats that read a kind.
DEMANDED = {
    "cidr-list": 'values = { isp = "x" }',
    "dbip": 'layout = "country-lite"',
    "ip2location": "db = 1",
    "ip2proxy": "db = 2",
}
LISTS = ("cidr-list", "geofeed", "pfx2as", "rir", "tor")
READ = {
    ("mmdb", "MMDB"), ("parquet", "Parquet"), ("ipinfo", "Parquet"), ("iplocate", "Parquet"),
    *((name, kind) for name in LISTS for kind in KINDS if kind.startswith("UTF-")),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=needs(*["maxminddb"] * (name == "mmdb"))) for name in FORMATS]
)
def test_a_file_of_another_kind(tmp_path: Path, name: str) -> None:
    text = one(name, "a.data", DEMANDED.get(name, ""))
    for kind, (content, called) in KINDS.items():
        if (name, kind) not in READ:
            error = refused(tmp_path, "a.data", content, text)
            assert str(error).startswith(f"{tmp_path / 'a.data'}: this looks like {called}; "), kind


def test_another_kind_than_the_name_says(tmp_path: Path) -> None:
    kinds = {".gz": "gzip", ".xz": "xz", "zip": "zip", "tgz": "gzip"}
    for name in ("a.csv.gz", "a.csv.xz", "a.csv.bz2", "a.zst", "a.zip", "a.tgz"):
        for kind in ("HTML", "Parquet", "gzip", "zip", "xz", "PDF", "SQLite"):
            if kinds.get(name[-3:]) == kind:
                continue
            content, called = KINDS[kind]
            error = refused(tmp_path, name, content, one("csv", name))
            assert error.problem == f"this looks like {called}, not as its name says", (name, kind)
    for kind, (content, called) in KINDS.items():
        error = refused(tmp_path, "a.gz", gzip.compress(content), one("csv", "a.gz"))
        assert error.problem == f"this looks like {called}", kind
    for kind in [name for name in KINDS if name not in ("Parquet", "MMDB")]:
        content, called = KINDS[kind]
        error = refused(tmp_path, "a.data", content, one("auto", "a.data"))
        assert error.problem == f"not recognised: this looks like {called}"
