"""Delegated statistics and tables of origins: counts, masked lines, names, damage."""

from __future__ import annotations

from tests.builder.sources.readings import OWN, Read, check_offers, fields, one
from tests.internals.builder import RIR

EXTENDED = """\
2.3|lacnic|20261120|9|19870101|20261119|-0300
lacnic|*|ipv4|*|5|summary
lacnic|*|ipv6|*|2|summary
lacnic|*|asn|*|1|summary
lacnic|BR|asn|64500|1|20200310|allocated|310248
lacnic|BR|ipv4|24.152.0.0|1024|20200310|allocated|310248
lacnic|CL|ipv4|24.152.8.0|768|00000000|assigned|310249
lacnic||ipv4|24.152.20.0|1024||reserved|
lacnic|EU|ipv4|24.152.32.0|256|20200310|allocated|310250
lacnic||ipv4|24.152.48.0|1024||available
lacnic|AR|ipv4|24.152.64.0|256|20200310|assigned
lacnic|UY|ipv6|2800:100::|32|20200310|allocated|310251
lacnic|ZZ|ipv6|2800:200::|32||reserved|
"""
PLAIN = """\
#
# statistics
#
2|apnic|20261120|3|19830613|20261119|+1000
apnic|*|asn|*|1|summary
apnic|*|ipv4|*|1|summary
apnic|*|ipv6|*|1|summary
apnic|JP|asn|64501|1|20020801|allocated
apnic|JP|ipv4|1.1.4.0|1024|20110411|allocated
apnic|AP|ipv4|1.1.8.0|256|20110411|assigned
apnic||ipv4|1.1.9.0|256|20110411|assigned
apnic|AU|ipv6|2400:1000::|32|20110411|assigned
"""
RECIPE = one("rir", "delegated")


SOUTH = {"24.152.0.0/22": "BR", "24.152.8.0-24.152.10.255": "CL", "24.152.64.0/24": "AR"}
SOUTH["2800:100::/32"] = "UY"
ASIA = {"1.1.4.0/22": "JP", "2400:1000::/32": "AU"}


def test_extended_and_plain(read: Read) -> None:
    reading = read({"delegated": EXTENDED}, RECIPE)
    source = reading.source
    assert (source.read, source.rejected.total(), source.nulled.total()) == (5, 0, 0)
    assert reading.by_network("country_code") == SOUTH
    # With a version line or without, and from any line on.
    for text in (
        PLAIN,
        PLAIN.replace("2|apnic", "2.3|apnic"),
        PLAIN[PLAIN.index("2|apnic") :],
        PLAIN[PLAIN.index("apnic|JP|asn") :],
    ):
        reading = read({"delegated": text}, RECIPE)
        source = reading.source
        assert (source.read, source.rejected, source.nulled) == (4, {}, {}), text
        assert reading.by_network("country_code") == ASIA, text
    reading = read({"delegated": EXTENDED + PLAIN.replace("JP|ipv4", "KR|ipv4")}, OWN + RECIPE)
    known = reading.ranges()
    assert known["1.1.4.0/22"] == fields(
        "country_code=KR; rir=apnic; rir_status=allocated; rir_date=2011-04-11"
    )
    assert known["24.152.8.0-24.152.10.255"] == fields(
        "country_code=CL; rir=lacnic; rir_status=assigned"
    )
    check_offers("rir", [known])
    recipe = RECIPE.replace('"delegated"', '"delegated-*"')
    reading = read({"delegated-a": EXTENDED, "delegated-b": PLAIN}, recipe)
    assert reading.by_network("country_code") == SOUTH | ASIA
    reading = read({"delegated": "a|JP|ipv4|0.0.0.0|4294967296|20110411|allocated|x\n"}, RECIPE)
    assert reading.source.rejected.total() == 0
    assert reading.values("country_code", "1.0.0.0", "223.255.255.255") == ["JP", "JP"]


BAD = {
    "apnic|JP|ipv4|1.1.16.0|0|20110411|allocated": "first is after last",
    "apnic|JP|ipv4|255.255.255.0|257|20110411|allocated": "not an address",
    "apnic|JP|ipv4|1.1.16.0|9999999999|20110411|allocated": "not an address",
    "apnic|JP|ipv4|1.1.16.0|-1|20110411|allocated": "not an address",
    "apnic|JP|ipv4|2400:2000::|32|20110411|allocated": "not an address",
    "apnic|JP|ipv6|1.1.16.0|24|20110411|allocated": "not an address",
    "apnic|JP|ipv6|2400:2000::|129|20110411|allocated": "not a prefix length",
    "apnic|JP|ipv4|1.1.16.0|256|20110411|lent": "not an address",
    "apnic|JP|ipv5|1.1.16.0|256|20110411|allocated": "not an address",
    "apnic|JP|ipv4|1.1.16.0|256": "not an address",
    "apnic|*|ipv4|1.1.16.0|256|20110411|allocated": "not an address",  # no summary
    "apnic|JP|ipv4|1.1.16.0|256|20110411|alloca": "not an address",
    'apnic|JP|ipv4|"1.1.16.0|256|20110411|allocated': "not an address",
}


def test_bad_rows_and_no_options(read: Read) -> None:
    text = PLAIN + "".join(f"{line}\n" for line in BAD) + "apnic|JP|ipv4|1.1.32.0|1|1|assigned\n"
    reading = read({"delegated": text}, RECIPE)
    assert reading.bad_lines() == list(enumerate(BAD.values(), PLAIN.count("\n") + 1))
    result = reading.values("country_code", "1.1.16.0", "1.1.32.0", "1.1.32.1")
    assert result == [None, "JP", None]
    assert RIR.options == frozenset()


# --- prefixes with their origins: tables of CAIDA and pyasn

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
ORIGINS = one("pfx2as", "table")


def test_caida_and_pyasn(read: Read) -> None:
    reading = read({"table": "# x\n\n" + CAIDA}, ORIGINS)
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
    reading = read({"table": PYASN}, ORIGINS)
    assert (reading.source.read, reading.source.rejected.total()) == (3, 0)
    known = {"8.0.0.0-8.8.7.255": 3356, "8.8.8.0/24": 15169, "8.8.9.0-8.127.255.255": 3356}
    assert reading.by_network("asn") == known | {"2600:100::/32": 64500}


BAD_ORIGINS = {
    "8.8.8.0/24\t24\t1": "not an address",
    "2600::\t24x\t1": "not a prefix length",
    "\t24\t1": "not an address",
    "8.8.8.0\t\t1": "not a prefix length",
    "8.8.8.0\t24": "not an address",
    "8.8.8.0\t24\t1\t2": "not an address",
    '"8.8.8.0\t24\t1': "not an address",
}


def test_bad_rows_and_origins(read: Read) -> None:
    text = (
        "# x\n8.0.0.0\t9\t3356\n; y\n"
        + "".join(f"{line}\n" for line in BAD_ORIGINS)
        + "9.0.0.0\t8\t9\n"
    )
    reading = read({"table": text}, ORIGINS)
    assert reading.bad_lines() == list(enumerate(BAD_ORIGINS.values(), 4))
    assert reading.values("asn", "8.8.8.8", "9.1.1.1") == [3356, 9]
    words = ("AS", "4294967296", "1.5", "10 20", "-", "x_1")
    rows = "".join(f"8.8.{at}.0\t24\t{word}\n" for at, word in enumerate(words))
    reading = read({"table": "8.0.0.0\t8\t3\n" + rows}, ORIGINS)
    assert dict(reading.source.nulled) == {"asn": len(words)}
    addresses = [f"8.8.{at}.8" for at in range(len(words) + 1)]
    assert reading.values("asn", *addresses) == [None] * len(words) + [3]
