"""Validated ROA payloads: the writers' layouts, AS 0, several origins, damage."""

from __future__ import annotations

import json
from typing import Any

import pytest
from geolookup_builder.sources.reading import delimited

from tests.builder.sources.readings import Read
from tests.builder.sources.recipes import one

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
    roas: list[Any] = []
    for asn, prefix, length, anchor in vrps:
        origin = int(asn.removeprefix("AS")) if number else asn
        roas.append({"asn": origin, "prefix": prefix, "maxLength": int(length), "ta": anchor})
    return json.dumps({"metadata": {"vrps": len(roas)}, "roas": roas, **more})


RECIPE = one("rpki", "vrps")
#: AS 0: nobody may announce 1.0.5.0/24, so that the wider VRP does not show through.
FOUND = {
    "1.0.0.0/24": {"asn": 13335},
    "1.0.4.0/24": {"asn": 56203},
    "1.0.6.0/23": {"asn": 38803},
    "2606:4700::/44": {"asn": 13335},
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


def test_each_writer_with_names(read: Read) -> None:
    for name, text in WRITERS.items():
        source = (reading := read({"vrps": text}, RECIPE)).source
        assert (source.read, source.rejected, source.nulled) == (5, {}, {}), name
        assert reading.ranges() == FOUND, name
    files: dict[str, str | bytes] = {"vrps": RPKI_CLIENT, "names.csv": "13335,Cloudflare\n"}
    reading = read(files, one("rpki", "vrps", 'names = "names.csv"'))
    assert reading.stated("1.0.0.1") == [{"asn": 13335, "asn_organization": "Cloudflare"}]


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
    bad = 0 if json_ else 30
    rows = "".join(",".join(each[:3]) + "\n" for each in SEVERAL)
    csv = "ASN,IP Prefix,Max Length\n" + "AS1\n" * bad + rows
    reading = read({"vrps": document(SEVERAL) if json_ else csv}, RECIPE)
    source = reading.source
    assert (source.read, source.duplicates, source.nulled) == (7 + bad, 3, {"asn": 1})
    networks = {"8.8.4.0/24": 15169, "8.8.8.0/24": 15169, "9.0.0.0/24": 174}
    assert reading.ranges() == {network: {"asn": asn} for network, asn in networks.items()}


def test_bad_rows_and_origins(read: Read) -> None:
    bad = [["AS1", prefix, "24", "x"] for prefix in ("8.8.8.0/33", "8.8.8.1/24", "x")]
    csv = ROUTINATOR + "".join(",".join(each) + "\n" for each in bad)
    for content, first in ((csv, 7), (document(VRPS + bad), 6)):
        reading = read({"vrps": content}, RECIPE)
        assert reading.source.read == 8
        assert [line for line, _ in reading.bad_lines()] == [first, first + 1, first + 2]
    text = ROUTINATOR + "ASx,9.0.0.0/24,24,y\nAS4294967296,9.0.1.0/24,24,y\n"
    reading = read({"vrps": text}, RECIPE)
    assert (reading.source.nulled, reading.ranges()) == ({"asn": 2}, FOUND)
    for asn in (True, 1.5, [1], {"asn": 1}, "1\ud800"):
        roas = [{"asn": asn, "prefix": "9.0.0.0/24", "maxLength": 24}]
        reading = read({"vrps": json.dumps({"roas": roas})}, RECIPE)
        assert (reading.source.nulled, reading.ranges()) == ({"asn": 1}, {}), asn
