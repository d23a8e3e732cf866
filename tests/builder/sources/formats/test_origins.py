"""Prefixes with their origins: tables of CAIDA and pyasn, validated ROA payloads; names, damage."""

from __future__ import annotations

import json
from typing import Any

import pytest
from geolookup_builder.sources.reading import delimited

from tests.builder.sources.readings import Read, one

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
RECIPE = one("pfx2as", "table")


def test_caida_and_pyasn(read: Read) -> None:
    reading = read({"table": "# x\n\n" + CAIDA}, RECIPE)
    source = reading.source
    assert (source.read, source.rejected.total(), source.nulled.total()) == (7, 0, 0)
    assert reading.by_network("asn") == {
        "8.0.0.0-8.8.7.255": 3356,
        "8.8.8.0/24": 15169,
        "8.8.9.0-8.127.255.255": 3356,
        "9.9.0.0-9.9.6.255": 3356,
        "9.9.7.0/24": 60,
        "9.9.8.0/24": 30,
        "9.9.9.0/24": 10,
        "9.9.10.0-9.9.255.255": 3356,
        "2600:100::/32": 64500,
    }
    reading = read({"table": PYASN}, RECIPE)
    assert (reading.source.read, reading.source.rejected.total()) == (3, 0)
    known = {"8.0.0.0-8.8.7.255": 3356, "8.8.8.0/24": 15169, "8.8.9.0-8.127.255.255": 3356}
    assert reading.by_network("asn") == known | {"2600:100::/32": 64500}


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
    '"8.8.8.0\t24\t1': "not an address",
}


def test_bad_rows_and_origins(read: Read) -> None:
    text = "# x\n8.0.0.0\t9\t3356\n; y\n" + "".join(f"{line}\n" for line in BAD) + "9.0.0.0\t8\t9\n"
    reading = read({"table": text}, RECIPE)
    assert reading.bad_lines() == list(enumerate(BAD.values(), 4))
    assert reading.values("asn", "8.8.8.8", "9.1.1.1") == [3356, 9]
    words = ("AS", "4294967296", "1.5", "10 20", "-", "x_1")
    rows = "".join(f"8.8.{at}.0\t24\t{word}\n" for at, word in enumerate(words))
    reading = read({"table": "8.0.0.0\t8\t3\n" + rows}, RECIPE)
    assert dict(reading.source.nulled) == {"asn": len(words)}
    addresses = [f"8.8.{at}.8" for at in range(len(words) + 1)]
    assert reading.values("asn", *addresses) == [None] * len(words) + [3]


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


VRPS_RECIPE = one("rpki", "vrps")
#: AS 0: nobody may announce 1.0.5.0/24, so that the wider VRP does not show through.
DETECTED = {
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
        source = (reading := read({"vrps": text}, VRPS_RECIPE)).source
        assert (source.read, source.rejected, source.nulled) == (5, {}, {}), name
        assert reading.ranges() == DETECTED, name
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
    rows = "".join(",".join(address[:3]) + "\n" for address in SEVERAL)
    text = "ASN,IP Prefix,Max Length\n" + "AS1\n" * bad + rows
    reading = read({"vrps": document(SEVERAL) if json_ else text}, VRPS_RECIPE)
    source = reading.source
    assert (source.read, source.duplicates, source.nulled) == (7 + bad, 3, {"asn": 1})
    networks = {"8.8.4.0/24": 15169, "8.8.8.0/24": 15169, "9.0.0.0/24": 174}
    assert reading.ranges() == {network: {"asn": asn} for network, asn in networks.items()}
