"""Validated ROA payloads: the writers' layouts, AS 0, several origins, damage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from geolookup_builder.sources.reading import delimited

from tests.builder.plain_rows import check_rows
from tests.builder.sources.readings import Read
from tests.builder.sources.recipes import one, refused

RPKI_CLIENT = """\
ASN,IP Prefix,Max Length,Trust Anchor,Expires
AS13335,1.0.0.0/24,24,apnic,1732000000
AS38803,1.0.4.0/22,22,apnic,1732000000
AS56203,1.0.4.0/24,24,apnic,1732000000
AS0,1.0.5.0/24,32,apnic,1732000000
AS13335,2606:4700::/44,48,arin,1732000000
"""
ROUTINATOR = "".join(",".join(line.split(",")[:4]) + "\n" for line in RPKI_CLIENT.splitlines())
COMPATIBLE = "".join(
    ",".join(f'"{cell}"' for cell in line.split(",")) + "\n" for line in ROUTINATOR.splitlines()
)
EXTENDED = "URI,ASN,IP Prefix,Max Length,Not Before,Not After\n" + "".join(
    f"rsync://x/{at}.roa,{','.join(line.split(',')[:3])},2026-01-01 00:00:00,2027-01-01 00:00:00\n"
    for at, line in enumerate(ROUTINATOR.splitlines()[1:])
)
VRPS = [line.split(",") for line in ROUTINATOR.splitlines()[1:]]


def document(vrps: list[list[str]], *, number: bool = False, **more: object) -> str:
    roas: list[Any] = [
        {
            "asn": int(asn.removeprefix("AS")) if number else asn,
            "prefix": prefix,
            "maxLength": int(length),
            "ta": anchor,
        }
        for asn, prefix, length, anchor in vrps
    ]
    return json.dumps({"metadata": {"vrps": len(roas)}, "roas": roas, **more})


RECIPE = one("rpki", "vrps")
FOUND = {
    "1.0.0.1": {"asn": 13335},
    "1.0.6.1": {"asn": 38803},
    "1.0.4.1": {"asn": 56203},
    "1.0.5.1": {},  # AS 0: nobody may announce it, so that the wider VRP does not show through
    "2606:4700::1": {"asn": 13335},
}
WRITERS = {
    "rpki-client": RPKI_CLIENT,
    "routinator": ROUTINATOR,
    "compatible": COMPATIBLE,
    "extended": EXTENDED,
    "crlf": COMPATIBLE.replace("\n", "\r\n"),
    "routinator, json": document(VRPS),
    "rpki-client, json": document(VRPS, number=True, aspas=[], bgpsec_keys=[]),
}


@pytest.mark.parametrize("name", WRITERS)
def test_each_writer(read: Read, name: str) -> None:
    reading = read({"vrps": WRITERS[name]}, RECIPE)
    source = reading.source
    assert (source.read, source.rejected.total(), source.nulled.total()) == (5, 0, 0)
    assert reading.stated(*FOUND) == [*FOUND.values()]


SEVERAL = [
    ["AS0", "8.8.8.0/24", "32", "x"],
    ["AS15169", "8.8.8.0/24", "24", "x"],
    ["AS15169", "8.8.4.0/24", "24", "x"],
    ["AS3356", "9.0.0.0/24", "24", "x"],
    ["AS174", "9.0.0.0/24", "28", "x"],
    ["as00", "8.8.4.0/24", "32", "x"],
    ["AS5", "0.0.0.0/0", "32", "x"],
]


@pytest.mark.parametrize("json_", [True, False])
def test_several_origins_and_as_0(read: Read, monkeypatch: pytest.MonkeyPatch, json_: bool) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 64)  # rows of one prefix lie in several batches
    csv = (
        "ASN,IP Prefix,Max Length\n"
        + "AS1\n" * (0 if json_ else 30)
        + "".join(",".join(each[:3]) + "\n" for each in SEVERAL)
    )
    reading = read({"vrps": document(SEVERAL) if json_ else csv}, RECIPE)
    source = reading.source
    assert (source.read, source.duplicates, dict(source.nulled)) == (
        7 if json_ else 37,
        3,
        {"asn": 1},
    )
    found = reading.stated("8.8.8.8", "8.8.4.4", "9.0.0.1", "7.7.7.7")
    assert found == [{"asn": 15169}, {"asn": 15169}, {"asn": 174}, {}]


def test_names(read: Read) -> None:
    files: dict[str, str | bytes] = {"vrps": RPKI_CLIENT, "names.csv": "13335,Cloudflare\n"}
    reading = read(files, one("rpki", "vrps", 'names = "names.csv"'))
    assert reading.stated("1.0.0.1") == [{"asn": 13335, "asn_organization": "Cloudflare"}]


def test_bad_rows_are_rejected_with_their_places(read: Read) -> None:
    bad = [
        ["AS1", "8.8.8.0/33", "24", "x"],
        ["AS1", "8.8.8.1/24", "24", "x"],
        ["AS1", "x", "1", "x"],
    ]
    csv = ROUTINATOR + "".join(",".join(each) + "\n" for each in bad)
    for content, first in ((csv, 7), (document(VRPS + bad), 6)):
        reading = read({"vrps": content}, RECIPE)
        assert reading.source.read == 8
        assert [line for line, _ in reading.bad_lines()] == [first, first + 1, first + 2]


def test_an_origin_that_is_no_number_is_nulled(read: Read) -> None:
    text = ROUTINATOR + "ASx,9.0.0.0/24,24,y\nAS4294967296,9.0.1.0/24,24,y\n"
    reading = read({"vrps": text}, RECIPE)
    assert dict(reading.source.nulled) == {"asn": 2}
    assert reading.stated("9.0.0.1") == [{}]


def test_an_origin_of_another_kind_is_nulled_and_counted(read: Read) -> None:
    for asn in (True, 1.5, [1], {"asn": 1}, "1\ud800"):
        roas = [{"asn": asn, "prefix": "9.0.0.0/24", "maxLength": 24}]
        reading = read({"vrps": json.dumps({"roas": roas})}, RECIPE)
        assert dict(reading.source.nulled) == {"asn": 1}, asn
        assert reading.stated("9.0.0.1") == [{}], asn


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("ASN,Prefix\nAS1,8.8.8.0/24\n", "not a list of VRPs"),
        ('{"roas": {"prefix": 1, "maxLength": 2}}', "no array 'roas'"),
        ('{"aspas": []}', "not a list of VRPs"),
        (document(VRPS)[:-10], "not JSON"),
        (RPKI_CLIENT.encode() + b"\xff\n", "not UTF-8"),
        ("ASN,ASN,IP Prefix,Max Length\n", "column 'ASN' twice"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, content: str | bytes, words: str) -> None:
    assert words in refused(tmp_path, "vrps", content, RECIPE).problem


def test_rows_are_those_of_a_plain_reader(tmp_path: Path) -> None:
    rows = [
        {"network": prefix, "asn": asn.removeprefix("AS").replace("0", "", asn == "AS0")}
        for asn, prefix, *_ in VRPS
    ]
    check_rows(tmp_path, {"vrps": RPKI_CLIENT}, RECIPE, rows)
