"""Routing tables of CAIDA and pyasn: origins, names, default routes, damage."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from tests.builder.building import fails
from tests.builder.plain_rows import check_rows
from tests.builder.sources.readings import Read

CAIDA = """\
8.0.0.0\t9\t3356
8.8.8.0\t24\t15169
9.9.0.0\t16\t3356_174
9.9.9.0\t24\t10,20
9.9.8.0\t24\t30,40_50
9.9.7.0\t24\t60_{70,80}
2600:100::\t32\t64500
"""
PYASN = (
    "; IP-ASN32-DAT file\n; Prefixes : 3\n; \n"
    "8.0.0.0/9\t3356\n8.8.8.0/24\t15169\n2600:100::/32\t64500\n"
)
NAMES = {"3356": "LEVEL3 Level 3, Inc., US", "AS15169": "GOOGLE, US", "9": "NINE, AS"}


def recipe(path: str = "table", extra: str = "") -> str:
    return f'[dataset]\nname = "test"\n[[source]]\nformat = "pfx2as"\npath = "{path}"\n{extra}\n'


def test_caida(read: Read) -> None:
    reading = read({"table": "# x\n\n" + CAIDA}, recipe())
    assert (reading.source.read, reading.source.rejected.total()) == (7, 0)
    addresses = ("8.8.8.8", "8.8.9.1", "9.9.1.1", "9.9.9.1", "9.9.8.1", "9.9.7.1", "2600:100::1")
    assert reading.values("asn", *addresses) == [15169, 3356, 3356, 10, 30, 60, 64500]
    assert reading.source.nulled.total() == 0


def test_pyasn(read: Read) -> None:
    reading = read({"table": PYASN}, recipe())
    assert (reading.source.read, reading.source.rejected.total()) == (3, 0)
    found = reading.values("asn", "8.8.8.8", "8.8.9.1", "2600:100::1", "7.0.0.1")
    assert found == [15169, 3356, 64500, None]


@pytest.mark.parametrize(
    "text",
    ["0.0.0.0\t0\t1\n::\t0\t2\n" + CAIDA, "; x\n0.0.0.0/0\t1\n::/0\t2\n" + PYASN],
    ids=["caida", "pyasn"],
)
def test_default_routes_are_counted_and_decide_nothing(read: Read, text: str) -> None:
    names = json.dumps({"1": "ONE, US"})
    table = {"table": text, "names.json": names, "below.csv": "network,isp,asn\n7.0.0.0/8,x,7\n"}
    below = '[[source]]\nformat = "csv"\npath = "below.csv"\n'
    reading = read(table, recipe(extra='names = "names.json"') + below)
    source = reading.source
    assert (dict(source.nulled), source.rejected.total()) == ({"asn": 2}, 0)
    assert reading.stated("1.1.1.1", "2a00::1", "7.1.1.1") == [{}, {}, {"asn": 7, "isp": "x"}]
    assert reading.values("asn", "8.8.8.8") == [15169]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("names.json", json.dumps(NAMES)),
        ("names.json", "\ufeff\n " + json.dumps(NAMES)),
        ("names.json.gz", gzip.compress(json.dumps(NAMES).encode(), mtime=0)),
        ("names.csv", '3356,"LEVEL3 Level 3, Inc."\nAS15169,GOOGLE\n'),
        ("names.csv", 'asn,name\r\n3356,"LEVEL3 Level 3, Inc."\r\nAS15169,GOOGLE\r\n'),
    ],
)
def test_names(read: Read, name: str, content: str | bytes) -> None:
    reading = read({"table": CAIDA, name: content}, recipe(extra=f'names = "{name}"'))
    assert reading.stated("8.8.9.1", "8.8.8.8", "9.9.9.1") == [
        {"asn": 3356, "asn_organization": "LEVEL3 Level 3, Inc."},
        {"asn": 15169, "asn_organization": "GOOGLE"},
        {"asn": 10},
    ]


def test_a_csv_keeps_what_looks_like_a_country(read: Read) -> None:
    files = {"table": CAIDA, "names.csv": '3356,"Telecom Acme, SA"\n'}
    reading = read(files, recipe(extra='names = "names.csv"'))
    assert reading.at("8.8.9.1")["asn_organization"] == "Telecom Acme, SA"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[1]", "not CSV"),
        ('{"3356": ', "not JSON"),
        ('{"3356": 1}', "not a JSON object of names"),
        ('{"3356": ["x"]}', "not a JSON object of names"),
        ('{"3356": "\\ud800"}', "not a JSON object of names"),
        (b'{"3356": "\xff"}', "not a JSON object of names"),
        ('{"a":' * 100_000, "not a JSON object of names"),
        ("{}", "no AS numbers"),
        ("3356,x,y\n", "not CSV"),
        ("a,b\n", "no AS numbers"),
        (b"3356,\xff\n", "not UTF-8"),
        ("", "empty file"),
    ],
)
def test_names_that_are_none(tmp_path: Path, content: str | bytes, words: str) -> None:
    files = {"table": CAIDA, "names": content}
    error = fails(tmp_path, files, recipe(extra='names = "names"'))
    assert words in str(error)
    assert error.path == str(tmp_path / "names")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("3", "source.names is not a text"),
        ("[]", "source.names is not a text"),
        ('""', "source.names is not a text"),
        ('"gone.json"', "gone.json: no such file"),
        ('"names*"', "names*: more than one file"),
    ],
)
def test_the_option_is_checked(tmp_path: Path, value: str, problem: str) -> None:
    files: dict[str, str | bytes] = {"table": CAIDA, "names1": "1,a\n", "names2": "2,b\n"}
    assert problem in str(fails(tmp_path, files, recipe(extra=f"names = {value}")))


BAD = {
    "8.8.8.0\t33\t1": "not a prefix length",
    "8.8.8.1\t24\t1": "host bits set",
    "8.8.8.0/24\t24\t1": "not a prefix length",
    "8.8.8\t24\t1": "not an address",
    "2600::\t24x\t1": "not a prefix length",
    "\t24\t1": "not an address",
    "8.8.8.0\t\t1": "not an address",
    "8.8.8.0\t24": "wrong number of cells",
    "8.8.8.0\t24\t1\t2": "wrong number of cells",
    f"{1 << 128}\t24\t1": "not an address",
    "8.8.\x008.0\t24\t1": "not an address",
    '"8.8.8.0\t24\t1': "not an address",
    "1" * 1_000_000 + "\t24\t1": "not an address",
}


def test_bad_rows_are_rejected_with_their_lines(read: Read) -> None:
    text = "# x\n8.0.0.0\t9\t3356\n; y\n" + "".join(f"{line}\n" for line in BAD) + "9.0.0.0\t8\t9\n"
    reading = read({"table": text}, recipe())
    assert reading.bad_lines() == list(enumerate(BAD.values(), 4))
    assert reading.values("asn", "8.8.8.8", "9.1.1.1") == [3356, 9]


def test_an_origin_that_is_no_number_is_nulled(read: Read) -> None:
    words = ("AS", "4294967296", "1.5", "10 20", "-", "x_1")
    rows = "".join(f"8.8.{at}.0\t24\t{word}\n" for at, word in enumerate(words))
    reading = read({"table": "8.0.0.0\t8\t3\n" + rows}, recipe())
    assert dict(reading.source.nulled) == {"asn": len(words)}
    addresses = [f"8.8.{at}.8" for at in range(len(words) + 1)]
    assert reading.values("asn", *addresses) == [None] * len(words) + [3]


@pytest.mark.parametrize(
    "text",
    ["a,b,c\n8.8.8.0/24,1,2\n", "8.8.8.0/24 15169\n", "; nothing\n", "prefix\tlength\tasn\n"],
)
def test_another_file_is_one_error(tmp_path: Path, text: str) -> None:
    error = fails(tmp_path, {"table": text}, recipe())
    assert "not a table of prefixes and origins" in str(error)


@pytest.mark.parametrize("text", [CAIDA + "0.0.0.0\t0\t5\nbad\t1\t2\n", PYASN])
def test_rows_are_those_of_a_plain_reader(tmp_path: Path, text: str) -> None:
    files: dict[str, str | bytes] = {"table": text, "names": json.dumps(NAMES)}
    known = {"3356": "LEVEL3 Level 3, Inc.", "15169": "GOOGLE"}
    rows = []
    for line in text.splitlines():
        *prefix, origins = line.split("\t")
        if line[0].isdigit() and prefix[-1] != "0":  # the default route says nothing
            asn = re.split("[,_]", origins)[0]
            network = "/".join(prefix)
            rows.append({"network": network, "asn": asn, "asn_organization": known.get(asn, "")})
    check_rows(tmp_path, files, recipe(extra='names = "names"'), rows)


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "rows"), [("ipasn_20140513", 512_621), ("ipasn6_20151101", 633_831)]
)
def test_real_tables(read: Read, shared_data: Path, name: str, rows: int) -> None:
    folder = shared_data / "bgp"
    text = recipe(str(folder / f"{name}.dat.gz"), f'names = "{folder / "asnames.json.gz"}"')
    reading = read({}, text)
    source = reading.source
    assert (source.read, source.rejected.total(), source.nulled.total()) == (rows, 0, 0)
    found = reading.at("8.8.8.8")
    assert found["asn"] == 15169
    assert found["asn_organization"].startswith("GOOGLE")
    assert not found["asn_organization"].endswith(", US")
