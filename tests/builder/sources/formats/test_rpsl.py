"""RPSL dumps: attributes of several lines and values, hierarchies, encodings, damage."""

from __future__ import annotations

import gzip
from ipaddress import ip_network
from pathlib import Path

import pytest
from geolookup_builder.sources.reading import rpsl_objects

import geolookup
from tests.builder.building import fails
from tests.builder.plain_rows import check_rows
from tests.builder.sources.readings import Read
from tests.builder.sources.recipes import one, refused
from tests.conftest import Build

DUMP = """\
% This is the dump of a registry.
#

inetnum:        193.0.0.0 - 193.0.7.255
netname:        RIPE-NCC
descr:          RIPE Network Coordination Centre
descr:          Amsterdam
org:            ORG-RIEN1-RIPE
country:        NL # of course
status:         ASSIGNED PA
source:         RIPE # Filtered

inetnum:        193.0.4.0-193.0.4.255
netname:        SMALL
country:        de
COUNTRY:        DE

person:         A Person
address:        country: FR
nic-hdl:        AP1-RIPE

inet6num:       2001:67c:2e8::/48
netname:        SIX
descr:
+               a name
                on lines # with a comment
country:        NL

inetnum:        193.1.0.0/16
netname:        SEVERAL
descr:          Two countries
country:        NL
country:        BE

organisation:   ORG-RIEN1-RIPE
org-name:       Réseaux IP Européens
country:        FR

inetnum:        0.0.0.0 - 255.255.255.255
netname:        IANA-BLK
descr:          The whole IPv4 address space
country:        EU # Country is really world wide
"""
RECIPE = one("rpsl", "dump")
NCC = "RIPE Network Coordination Centre"
FOUND = {
    "193.0.0.1": {"country_code": "NL", "organization": NCC},
    "193.0.4.1": {"country_code": "DE"},
    "193.0.5.0": {"country_code": "NL", "organization": NCC},
    "2001:67c:2e8::1": {"country_code": "NL", "organization": "a name on lines"},
    "193.1.2.3": {"organization": "Two countries"},
    "8.8.8.8": {},
}


@pytest.mark.parametrize("block", [64, 1 << 20])
def test_a_dump(read: Read, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(rpsl_objects, "BLOCK_BYTES", block)
    for text in (
        DUMP,
        DUMP.replace("\n", "\r\n"),
        "\ufeff" + DUMP[DUMP.index("inetnum") :],
        DUMP.rstrip("\n"),
        DUMP.replace("\n\n", "\n\n\n% x\n\n"),
    ):
        reading = read({"dump": text}, RECIPE)
        source = reading.source
        assert (source.read, source.rejected.total(), source.nulled.total()) == (5, 0, 0), text
        assert reading.stated(*FOUND) == [*FOUND.values()], text


def test_names_of_organisations(read: Read) -> None:
    packed = gzip.compress(DUMP.encode("latin-1"), mtime=0)
    options = 'organisations = "dump.gz"', 'organization = ["org-name", "netname"]'
    reading = read({"dump.gz": packed}, one("rpsl", "dump.gz", *options))
    assert reading.values("organization", *FOUND) == [
        "Réseaux IP Européens",
        "SMALL",
        "Réseaux IP Européens",
        "SIX",
        "SEVERAL",
        None,
    ]


def test_no_organization_is_wanted(read: Read) -> None:
    reading = read({"dump": DUMP}, one("rpsl", "dump", "organization = []"))
    assert reading.stated("193.0.0.1") == [{"country_code": "NL"}]


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_encodings_are_told_apart_by_value(read: Read, encoding: str) -> None:
    text = "inetnum: 9.0.0.0 - 9.0.0.255\ndescr: Größe\n\ninetnum: 9.0.1.0/24\ndescr: "
    data = text.encode(encoding) + "Müller\n".encode()
    reading = read({"dump": data}, RECIPE)
    assert reading.values("organization", "9.0.0.1", "9.0.1.1") == ["Größe", "Müller"]


BAD = {
    "inetnum: 9.0.0.0 - 8.0.0.0": "first is after last",
    "inetnum: 9.0.0.0 -": "not an address",
    "inetnum: - 9.0.0.0": "not an address",
    "inetnum:": "not an address",
    "inetnum: 9.0.0.0 - 9.0.0.1 - 9.0.0.2": "not an address",
    "inetnum: 9.0.0.1/24": "host bits set",
    "inetnum: 9.0.0.0/33": "not a prefix length",
    "inetnum: 2001::/32": "not an address",
    "inet6num: 9.0.0.0/24": "not an address",
    "inetnum: 9.0.0.0 - 2001::": "first and last are of two families",
    "inetnum: " + "9" * 100_000: "not an address",
    "inetnum: 9.0.\x000.0 - 9.0.0.1": "not an address",
}


def test_bad_ranges_are_rejected_with_their_lines(read: Read) -> None:
    text = DUMP + "\n" + "".join(f"{key}\ncountry: NL\n\n" for key in BAD)
    reading = read({"dump": text}, RECIPE)
    assert reading.source.read == 5 + len(BAD)
    assert reading.stated("193.0.0.1") == [FOUND["193.0.0.1"]]
    first = DUMP.count("\n") + 2
    expected = [(first + 3 * at, reason) for at, reason in enumerate(BAD.values())]
    assert reading.bad_lines() == expected


def test_a_row_is_explained_by_its_line(build: Build) -> None:
    text = RECIPE.replace('name = "t"', 'name = "t"\nexplain = "full"')
    dataset, _ = build({"dump": DUMP}, text)
    with geolookup.open(dataset) as engine:
        rows = [engine.explain(each)["layers"]["location"]["row"] for each in list(FOUND)[:4:3]]
    keys = ("inetnum:        193.0.0.0", "inet6num:")
    lines = [DUMP[: DUMP.index(key)].count("\n") + 1 for key in keys]
    assert [each["line"] for each in rows] == lines


@pytest.mark.parametrize(
    "data",
    [b"", b"network,isp\n", b"% only comments\n", bytes(5000), b"{}", DUMP.encode("utf-16")],
)
def test_another_file_is_one_error(tmp_path: Path, data: bytes) -> None:
    expected = ("not a dump of RPSL objects", "this looks like UTF-16", "empty file")
    assert refused(tmp_path, "dump", data, RECIPE).problem in expected


def test_an_object_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpsl_objects, "BLOCK_BYTES", 100)
    monkeypatch.setattr(rpsl_objects, "MAX_OBJECT", 500)
    error = refused(tmp_path, "dump", DUMP + "\nroute-set: x\n" + "members: y\n" * 100, RECIPE)
    assert error.problem == "an object of more than 500 bytes"


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ('organization = "descr"', "source.organization is not a list"),
        ('organization = ["desc"]', "unknown attribute 'desc' in organization"),
        ("organisations = 3", "source.organisations is not a text"),
        ('organisations = "gone"', "no such file"),
    ],
)
def test_options_are_checked(tmp_path: Path, option: str, words: str) -> None:
    assert words in str(fails(tmp_path, {"dump": DUMP}, one("rpsl", "dump", option)))


def test_rows_are_those_of_a_plain_reader(tmp_path: Path) -> None:
    rows = []
    for paragraph in DUMP.replace("\n+", " ").replace("\n  ", "  ").split("\n\n"):
        stated: dict[str, list[str]] = {}
        for line in paragraph.splitlines():
            name, _, value = line.partition(":")
            if not line.startswith(("%", "#")):
                text = " ".join(value.split("#")[0].split())
                stated.setdefault(name.lower(), []).append(text)
        ranges = stated.get("inetnum", stated.get("inet6num"))
        if ranges and stated["netname"] != ["IANA-BLK"]:
            countries = {each.upper() for each in stated["country"]}
            ends = ranges[0].replace(" ", "").split("-")
            place = {"first": ends[0], "last": ends[1]} if len(ends) > 1 else {"network": ends[0]}
            row = {"country_code": countries.pop() if len(countries) == 1 else ""}
            rows.append({**place, **row, "organization": stated.get("descr", [""])[0]})
    pairs = [each for each in rows if "first" in each]
    for each in rows:
        if "network" in each:
            block = ip_network(each.pop("network"))
            pairs.append({"first": str(block[0]), "last": str(block[-1]), **each})
    assert len(pairs) == 4
    text = DUMP[: DUMP.index("organisation:")]
    check_rows(tmp_path, {"dump": text}, RECIPE, pairs)
