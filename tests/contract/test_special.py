"""The special-purpose table against IANA's registries, and the judge against a slow one.

The registries are read from their CSV files, whose cells hold footnotes
(``False [1]``), two blocks at a time, and line breaks.
"""

from __future__ import annotations

import csv
import ipaddress
import re
from pathlib import Path

import pytest

from geolookup.contract.special import (
    IPV4_REGISTRY,
    IPV6_REGISTRY,
    UNREGISTERED,
    Special,
    parse_block,
)
from geolookup.errors import InvalidAddressError

TABLES = {4: IPV4_REGISTRY, 6: IPV6_REGISTRY}
#: block, globally reachable, terminated
Row = tuple[str, bool, bool]


def plain(cell: str) -> str:
    """Return a cell without footnotes and line breaks."""
    return " ".join(re.sub(r"\[[0-9]+\]", "", cell).split())


def registry(folder: Path, family: int) -> list[dict[str, str]]:
    path = folder / "iana" / f"iana-ipv{family}-special-registry-1.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def stated(rows: list[dict[str, str]]) -> list[Row]:
    return [
        (
            plain(block),
            plain(row["Globally Reachable"]) == "True",
            plain(row["Termination Date"]) != "N/A",
        )
        for row in rows
        for block in row["Address Block"].split(",")
    ]


def ours(rows: tuple[Special, ...]) -> list[Row]:
    return [(row.block, row.reachable, row.terminated) for row in rows]


@pytest.mark.parametrize("family", [4, 6])
def test_the_table_is_the_registry(shared_data: Path, family: int) -> None:
    """In both directions: every row of either is one of the other, in the same order.

    The document is one that the registry names.
    """
    rows = registry(shared_data, family)
    assert ours(TABLES[family]) == stated(rows)
    named = [
        set(re.findall(r"RFC\d+", row["RFC"]))
        for row in rows
        for _ in row["Address Block"].split(",")
    ]
    for special, documents in zip(TABLES[family], named, strict=True):
        assert special.rfc.replace(" ", "") in documents, special.block


def test_rows_are_canonical_blocks_with_a_document() -> None:
    rows = [*IPV4_REGISTRY, *IPV6_REGISTRY, *UNREGISTERED]
    assert len({row.block for row in rows}) == len(rows) > 40
    for row in rows:
        network = ipaddress.ip_network(row.block)  # refuses host bits
        assert str(network) == row.block or row.block == "::ffff:0:0/96"
        family, first, last = parse_block(row.block)
        assert (family, first, last) == (network.version, int(network[0]), int(network[-1]))
        assert re.fullmatch(r"RFC \d+", row.rfc)
        assert row.name == row.name.strip() != ""


def test_besides_is_what_the_contract_names() -> None:
    assert {row.block: row.rfc for row in UNREGISTERED} == {
        "224.0.0.0/4": "RFC 5771",
        "ff00::/8": "RFC 4291",
        "fec0::/10": "RFC 3879",
        "::/96": "RFC 4291",
    }
    assert not any(row.reachable or row.terminated for row in UNREGISTERED)
    with pytest.raises(InvalidAddressError):
        parse_block("localhost/8")
