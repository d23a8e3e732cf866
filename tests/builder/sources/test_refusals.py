"""Files and options that a format refuses: each ends the build in one line that names the place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builder.sources.formats import test_cloud as cloud
from tests.builder.sources.formats import test_dbip as dbip
from tests.builder.sources.formats import test_ip2location as ip2location
from tests.builder.sources.formats import test_ip2proxy as ip2proxy
from tests.builder.sources.formats import test_maxmind as maxmind
from tests.builder.sources.formats import test_rpki as rpki
from tests.builder.sources.formats import test_rpsl as rpsl
from tests.builder.sources.formats import test_sapics as sapics
from tests.builder.sources.formats.test_bgpdump import line as route
from tests.builder.sources.formats.test_geofeed import FEED
from tests.builder.sources.formats.test_iptoasn import REGIONS
from tests.builder.sources.formats.test_iptoasn import V4 as IPTOASN
from tests.builder.sources.formats.test_pfx2as import CAIDA
from tests.builder.sources.formats.test_tor import LIST
from tests.builder.sources.recipes import one, refused

#: Options, content, words of the error.
Case = tuple[str, str | bytes, str]


def changed(document: dict[str, Any], **members: object) -> str:
    return json.dumps({**document, **members})


ADDRESSED = '"start", "end"'
UNSORTED = sapics.README.replace("47.3667,8.5500", "a,b").replace("8064", "1.5")
NO_PREFIXES, NO_DUMP = "not a table of prefixes and origins", "not a dump of RPSL objects"
NO_TABLE, NO_STATISTICS = "not a routing table of bgpdump", "not delegated statistics"
DAMAGED_RANGES: list[object] = [{"ipv4_cidrs": [], "ipv6_cidrs": []}]
DEEP = changed(cloud.GOOGLE, deep=0).replace("0}", "[" * 100_000 + "]" * 100_000 + "}")
BIG = changed(cloud.GOOGLE, big=0).replace("0}", "9" * 5000 + "}")
#: Format and name of the file: what is refused.
REFUSED: dict[tuple[str, str], list[Case]] = {
    ("bgpdump", "rib"): [
        ("", route("8.8.8.0/24", "1", "BGP4MP", "A"), NO_TABLE),
        ("", "TABLE_DUMP2|5|1763600000|B|10.0.0.1|3000|8.8.8.0/24|1|IGP\n", NO_TABLE),
        ("", "a|b|c\n", NO_TABLE),
        ("", "8.8.8.0/24\t15169\n", NO_TABLE),
        ("", "\n", NO_TABLE),
    ],
    ("cidr-list", "list.txt"): [
        ("", LIST, "source.fields is missing"),
        ("fields = {}", LIST, "source.fields is missing"),
        ('fields = "hosting"', LIST, "source.fields is missing"),
        ('fields = { user_typ = "hosting" }', LIST, "did you mean 'user_type'?"),
        ('fields = { user_type = "hostin" }', LIST, "user_type cannot be 'hostin'"),
        ('fields = { user_type = "" }', LIST, "user_type cannot be ''"),
        ("fields = { user_type = [1] }", LIST, "user_type cannot be [1]"),
        ("fields = { latitude = 91 }", LIST, "latitude cannot be 91"),
        ('fields = { time_zone = "Mars/Base" }', LIST, "time_zone cannot be"),
        ("fields = { asn = -1 }", LIST, "asn cannot be -1"),
        ("fields = { isp = true }", LIST, "isp cannot be True"),
    ],
    ("cloud", "a.json"): [
        ("", json.dumps(cloud.AWS)[:-40], "not JSON"),
        ("", json.dumps(cloud.AWS) + "}", "not JSON"),
        ("", json.dumps(cloud.AWS).encode() + b"\xff", "not UTF-8"),
        ("", changed(cloud.AWS, ipv6_prefixes=None), "no array 'ipv6_prefixes'"),
        ("", changed(cloud.AWS, ipv6_prefixes={}), "no array 'ipv6_prefixes'"),
        ("", changed(cloud.ORACLE, regions=["cidrs"]), "no array 'cidrs'"),
        ("", changed(cloud.ORACLE, regions=[{"x": {"cidrs": 1}}]), "no array 'cidrs'"),
        ("", changed(cloud.CLOUDFLARE, result=DAMAGED_RANGES), "no array"),
        ("", DEEP, "not JSON that can"),
        ("", BIG, "not JSON that can"),
        ("", "[1, 2]", "not a file of ranges of"),
        ("", "{}", "not a file of ranges of"),
        ("", "8.8.8.0/24\n", "not a file of ranges of"),
        ("", "network,isp\n", "not a file of ranges of"),
        ("", "", "empty file"),
    ],
    ("cloud", "list.txt"): [("", cloud.LIST, 'format = "cidr-list"')],
    ("dbip", "a.csv"): [
        ('layout = "city-light"', dbip.rows("CH"), "did you mean 'city-lite'?"),
        ('columns = ["ip_start", "ip_end", "contry"]', dbip.rows("CH"), "unknown column 'contry'"),
        ('columns = ["ip_start", "country"]', dbip.rows("CH"), "no ip_end in columns"),
        ('columns = ["ip_start", "ip_start", "ip_end"]', "x", "column 'ip_start' twice"),
        ('columns = "country"', dbip.rows("CH"), "source.columns is not a list"),
        ("columns = [1]", dbip.rows("CH"), "source.columns is not a list"),
        ('layout = "isp"\ncolumns = ["ip_start", "ip_end"]', "x", "both layout and columns"),
        ("", dbip.rows("CH"), "the file name states no layout"),
        ('layout = "country"', dbip.rows("CH"), "a.csv:1: 3 columns, but the layout country has 4"),
        ('layout = "asn-lite"', dbip.rows("CH"), "a.csv:1: 3 columns, but the layout asn-lite has"),
        ('layout = "country"', dbip.rows('64500,"Example"'), "a.csv:1: '64500' is no continent"),
        ('layout = "asn-lite"', dbip.rows("EU,CH"), "a.csv:1: 'EU' is no as_number"),
        ('layout = "city-lite"', dbip.rows("EU,CH,a,b,c,d"), "a.csv:1: 'c' is no latitude"),
        ('layout = "country-lite"', dbip.rows("Switzerland"), "'Switzerland' is no country"),
    ],
    ("dbip", "dbip-country-full-2026.csv"): [("", dbip.rows("CH"), "states no layout")],
    ("dbip", "dbip-asn-2026-11.csv"): [("", dbip.rows("CH"), "states no layout")],
    ("dbip", "city-lite.csv"): [("", dbip.rows("CH"), "states no layout")],
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
            for value in ("27", "0", '"DB0"', '"11"', "true", "1.5")
        ),
        ("db = 1", ip2location.ipv4(26), "27 columns, but DB1 has 4"),
        ("db = 26", ip2location.ipv4(1), "4 columns, but DB26 has 27"),
        ("db = 3", ip2location.ipv4(5), "no range of addresses in the first 4 of the columns of"),
        ("db = 1", '"a","b","CH","Switzerland"\r\n', "no range of addresses in the first 2"),
        (
            "db = 5",
            "5.1.4.0/22," + ip2location.quoted(ip2location.place(7)),
            "'Example Net AG' is no latitude",
        ),
    ],
    ("ip2location", "DB3.CSV"): [
        ("regions = 3", ip2location.ipv4(3), "source.regions"),
        ('regions = "regions.csv"', ip2location.ipv4(3), "cannot be read"),
    ],
    ("ip2proxy", "a.csv"): [
        ("", ip2proxy.ipv4(1), "states no database; write db = … in the recipe: 1 to 12 (it"),
        ("db = 13", ip2proxy.ipv4(1), "source.db is 13; write a number from 1 to 12"),
        ('db = "PX2"', ip2proxy.ipv4(1), "correct db in the recipe (it looks like PX1)"),
        (
            "db = 2",
            ip2proxy.rows(["134743040", "134743295", "some", "CH", "Switzerland"]),
            "'some' is no proxy_type, so this is not PX2",
        ),
    ],
    ("ip2proxy", "PX3.CSV"): [
        ("", ip2proxy.ipv4(1), "4 columns, but PX3 has 7; correct db in the recipe (it looks like")
    ],
    ("ip2region", "a.txt"): [
        ("", REGIONS.replace("|", ","), "a.txt:1: 1 columns, but ip2region's source text ha"),
        ("", "5.1.0.0|5.1.3.255|中国|浙江省|杭州市|电信\n", "a.txt:1: 6 columns"),
        ("", "a|b|c|d|e|f|g\n", "a.txt:1: 'a' is no start"),
    ],
    ("iptoasn", "a.tsv"): [
        ("", "5.1.0.0,5.1.3.255,64500,CH,X\n", "a.tsv:1: 1 columns, but a file of iptoasn has 5"),
        ("", "5.1.0.0\t5.1.3.255\tCH\t64500\tX\n", "a.tsv:1: 'CH' is no AS_number"),
        ("", "5.1.0.0\t22\t64500\tSwitzerland\tX\n", "a.tsv:1: 'Switzerland' is no country_code"),
        ("", "start\tend\t64500\tCH\tX\n", "a.tsv:1: 'start' is no range_start"),
        ("", f"{'y' * 1000}\tend\t64500\tCH\tX\n", "yyy…' is no range_start"),
        ('countries = "yes"', IPTOASN, "neither true nor false"),
    ],
    ("maxmind", "a.csv"): [
        *((("", text, f"{name} ignored")) for name, text in maxmind.IGNORED.items()),
        ("", maxmind.CITY, "a.csv: its Locations in locale 'en' are missing"),
        ("", "network,colour\n8.8.8.0/24,red\n", "a.csv"),
        ("", "network\n8.8.8.0/24\n", "a.csv"),
        ("", "a,b\n1,2\n", "a.csv"),
        ("", "network,domain,domain\n8.8.8.0/24,x,y\n", "a.csv"),
        ("", maxmind.EN, "a.csv"),
        ("", maxmind.PROVIDER, "a.csv"),
    ],
    ("pfx2as", "table"): [
        ("", "a,b,c\n8.8.8.0/24,1,2\n", NO_PREFIXES),
        ("", "8.8.8.0/24 15169\n", NO_PREFIXES),
        ("", "; nothing\n", NO_PREFIXES),
        ("", "prefix\tlength\tasn\n", NO_PREFIXES),
        ("names = 3", CAIDA, "source.names is not a text"),
        ("names = []", CAIDA, "source.names is not a text"),
        ('names = ""', CAIDA, "source.names is not a text"),
        ('names = "gone.json"', CAIDA, "gone.json: no such file"),
        ('names = "*"', CAIDA, "*: more than one file"),
    ],
    ("rir", "delegated"): [
        ("", "network,country_code\n8.8.8.0/24,US\n", NO_STATISTICS),
        ("", "# only comments\n", NO_STATISTICS),
        ("", "\x00\x01\x02", NO_STATISTICS),
        ("", "2|", NO_STATISTICS),
    ],
    ("rpki", "vrps"): [
        ("", "ASN,Prefix\nAS1,8.8.8.0/24\n", "not a list of VRPs"),
        ("", '{"roas": {"prefix": 1, "maxLength": 2}}', "no array 'roas'"),
        ("", '{"aspas": []}', "not a list of VRPs"),
        ("", rpki.document(rpki.VRPS)[:-10], "not JSON"),
        ("", rpki.RPKI_CLIENT.encode() + b"\xff\n", "not UTF-8"),
        ("", "ASN,ASN,IP Prefix,Max Length\n", "column 'ASN' twice"),
    ],
    ("rpsl", "dump"): [
        *(("", text, NO_DUMP) for text in ("network,isp\n", "% comments\n", "\0" * 5000, "{}")),
        ("", b"", "empty file"),
        ("", rpsl.DUMP.encode("utf-16"), "this looks like UTF-16"),
        ('organization = "descr"', rpsl.DUMP, "source.organization is not a list"),
        ('organization = ["desc"]', rpsl.DUMP, "unknown attribute 'desc' in organization"),
        ("organisations = 3", rpsl.DUMP, "source.organisations is not a text"),
        ('organisations = "gone"', rpsl.DUMP, "no such file"),
    ],
    ("sapics", "a.csv"): [
        ("", "5.1.0.0,5.1.3.255\n", "2 columns, but files of sapics have 3 (country), 4 (asn)"),
        ("", "5.1.0.0,5.1.3.255,64500\n", "'64500' is no country_code"),
        ("", "5.1.0.0,5.1.3.255,CH,Zurich\n", "'CH' is no asn"),
        ("", "network,country,x\n", "'network' is no start"),
        ("", UNSORTED, "order of the city"),
        (f'columns = [{ADDRESSED}, "contry_code"]', sapics.COUNTRY, "did you mean 'country_code'?"),
        (f'columns = [{ADDRESSED}, "asn", "-"]', sapics.COUNTRY, "3 columns, but columns has 4"),
    ],
    ("sapics", "a.7z"): [("", b"7z\xbc\xaf\x27\x1c\x00\x04" + bytes(100), "7-Zip")],
}


@pytest.mark.parametrize("name", dict.fromkeys(name for name, _ in REFUSED))
def test_what_a_format_refuses(tmp_path: Path, name: str) -> None:
    for (format_, file), cases in REFUSED.items():
        for options, content, words in cases if format_ == name else ():
            error = refused(tmp_path, file, content, one(name, file, options))
            assert words in str(error), (file, options, content[:80])
            assert str(error).startswith(str(tmp_path)), (file, options)
            assert len(str(error)) < 1000, (file, options)
