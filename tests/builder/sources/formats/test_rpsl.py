"""RPSL dumps: attributes of several lines and values, hierarchies, encodings, damage."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from geolookup_builder.sources.reading import rpsl_objects

import geolookup
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
HELD = {"country_code": "NL", "organization": NCC}
FOUND = {
    "193.0.0.0/22": HELD,
    "193.0.4.0/24": {"country_code": "DE"},
    "193.0.5.0-193.0.7.255": HELD,
    "193.1.0.0/16": {"organization": "Two countries"},
    "2001:67c:2e8::/48": {"country_code": "NL", "organization": "a name on lines"},
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
        assert reading.ranges() == FOUND, text


def test_names_of_organisations(read: Read) -> None:
    packed = gzip.compress(DUMP.encode("latin-1"), mtime=0)
    options = 'organisations = "dump.gz"', 'organization = ["org-name", "netname"]'
    reading = read({"dump.gz": packed}, one("rpsl", "dump.gz", *options))
    ncc = "Réseaux IP Européens"
    names = [each["organization"] for each in reading.ranges().values()]
    assert sorted(names) == [ncc, ncc, "SEVERAL", "SIX", "SMALL"]
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
    assert reading.ranges() == FOUND
    first = DUMP.count("\n") + 2
    expected = [(first + 3 * at, reason) for at, reason in enumerate(BAD.values())]
    assert reading.bad_lines() == expected


def test_a_row_is_explained_by_its_line(build: Build) -> None:
    text = RECIPE.replace('name = "t"', 'name = "t"\nexplain = "full"')
    dataset, _ = build({"dump": DUMP}, text)
    with geolookup.open(dataset) as engine:
        rows = [
            engine.explain(each)["layers"]["location"]["row"]
            for each in ("193.0.0.1", "2001:67c:2e8::1")
        ]
    keys = ("inetnum:        193.0.0.0", "inet6num:")
    lines = [DUMP[: DUMP.index(key)].count("\n") + 1 for key in keys]
    assert [each["line"] for each in rows] == lines


def test_an_object_without_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpsl_objects, "BLOCK_BYTES", 100)
    monkeypatch.setattr(rpsl_objects, "MAX_OBJECT", 500)
    error = refused(tmp_path, "dump", DUMP + "\nroute-set: x\n" + "members: y\n" * 100, RECIPE)
    assert error.problem == "an object of more than 500 bytes"
