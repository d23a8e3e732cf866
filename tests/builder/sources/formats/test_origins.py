"""Prefixes with their origins: tables of CAIDA and pyasn; names, damage."""

from __future__ import annotations

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
    "8.8.8.0/24\t24\t1": "not an address",
    "2600::\t24x\t1": "not a prefix length",
    "\t24\t1": "not an address",
    "8.8.8.0\t\t1": "not a prefix length",
    "8.8.8.0\t24": "not an address",
    "8.8.8.0\t24\t1\t2": "not an address",
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
