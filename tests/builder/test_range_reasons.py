"""Ranges of the generic CSV and columns of integers, beside Python's integers."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from tests.internals.builder import REASONS, ParsedRanges, from_networks, from_pairs
from tests.internals.contract import MAX

V6 = (1 << 128) - 1
Answer = tuple[int, int, int] | str


def span(family: int, first: int, bits: int) -> Answer:
    return family, first, first | (1 << bits) - 1


NETWORKS: dict[str | None, Answer] = {
    "0.0.0.0/0": span(4, 0, 32),
    "::/0": span(6, 0, 128),
    "8.8.8.8": span(4, 0x08080808, 0),
    "8.8.8.8/32": span(4, 0x08080808, 0),
    "128.0.0.0/1": span(4, 1 << 31, 31),
    "255.255.255.255/32": span(4, MAX[4], 0),
    "::": span(6, 0, 0),
    "8000::/1": span(6, 1 << 127, 127),
    "2a00::/64": span(6, 0x2A00 << 112, 64),
    "2a00::/63": span(6, 0x2A00 << 112, 65),
    "2a00::/65": span(6, 0x2A00 << 112, 63),
    "::ffff:8.8.8.0/120": span(6, 0xFFFF_08080800, 8),
    "64:FF9B::8.8.8.8/128": span(6, 0x64FF9B << 96 | 0x08080808, 0),
    "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128": span(6, V6, 0),
    # Blanks, tabs, line breaks and no-break spaces around a range.
    **dict.fromkeys(
        (" 8.8.8.0/24", "8.8.8.0/24 ", "\t8.8.8.0/24\r\n", "\xa08.8.8.0/24\u3000"),
        span(4, 0x08080800, 8),
    ),
    **dict.fromkeys(
        (
            *("8.8.8.0/33", "8.8.8.0/", "8.8.8.0/-1", "8.8.8.0/024", "8.8.8.0/00", "8.8.8.0/2a"),
            *("8.8.8.0/24/24", "8.8.8.0/0000000024", "8.8.8.0/2 4", "8.8.8.0/255.255.255.0"),
            "2a00::/129",
        ),
        "not a prefix length",
    ),
    **dict.fromkeys(("8.8.8.1/24", "0.0.0.1/0", "2a00::1/127", "2a00:0:0:1::/63"), "host bits set"),
    **dict.fromkeys(
        (
            *("", None, "/24", " ", "8.8.8.0 /24", "8.8.8/24", "8.8.8.08/32", "8.8.8.256/32"),
            *("134744064/24", "8.8.8.8.8", "8.8.8.٨", "2a00::%eth0/64", "[2a00::]/64", ":::/64"),
            *("1:2:3:4:5:6:7:8:9/64", "8.8.8.8\0", "x" * 5000),
        ),
        "not an address",
    ),
}
PAIRS: dict[tuple[str | None, str | None], Answer] = {
    ("8.8.8.0", "8.8.8.255"): span(4, 0x08080800, 8),
    ("8.8.8.8", "8.8.8.8"): span(4, 0x08080808, 0),
    ("134744064", "134744319"): span(4, 0x08080800, 8),
    ("0134744064", "8.8.8.255"): span(4, 0x08080800, 8),
    (" 134744064", "8.8.8.255\t"): span(4, 0x08080800, 8),
    ("0", "4294967295"): span(4, 0, 32),
    ("4294967296", str(V6)): (6, 1 << 32, V6),
    ("18446744073709551616", "18446744073709551621"): (6, 1 << 64, (1 << 64) + 5),
    ("2a00::", "2A00::1.2.3.4"): (6, 0x2A00 << 112, 0x2A00 << 112 | 0x01020304),
    ("8.8.8.8", "8.8.8.7"): "first is after last",
    ("2a00:0:0:1::", "2a00::ffff"): "first is after last",
    ("8.8.8.8", "2a00::"): "first and last are of two families",
    ("4294967295", "4294967296"): "first and last are of two families",
    **dict.fromkeys(
        (
            *(("8.8.8.0/24", "8.8.8.255"), ("8.8.8.8", None), ("", "8.8.8.8")),
            *((first, "5") for first in ("-1", "+1", "1.5", "1 0")),
            *(("1e3", "5000"), ("1_0", "50")),
            *(("5", last) for last in (str(V6 + 1), "9" * 39, "1" + "0" * 39, "0" * 40)),
        ),
        "not an address",
    ),
}


def answers(parsed: ParsedRanges) -> list[Answer]:
    """Family, first and last of each row, or the reason why it has none."""
    actual: list[Answer] = []
    for row, family in enumerate(parsed.family):
        ends = parsed.first.item(row), parsed.last.item(row)
        actual.append((int(family), *ends) if family else REASONS[parsed.reason[row]])
    return actual


def column(texts: list[str | None]) -> pa.Array:
    return pa.array(texts, pa.large_string())


def test_networks_and_pairs_in_one_batch_and_alone() -> None:
    assert answers(from_networks(column(list(NETWORKS)))) == list(NETWORKS.values())
    for text, answer in NETWORKS.items():
        assert answers(from_networks(column([text]))) == [answer], text
    assert pairs(list(PAIRS)) == list(PAIRS.values())
    for pair, answer in PAIRS.items():
        assert pairs([pair]) == [answer], pair


def pairs(listed: list[tuple[str | None, str | None]], family: int | None = None) -> list[Answer]:
    first, last = (column([pair[at] for pair in listed]) for at in (0, 1))
    return answers(from_pairs(first, last, family))


def test_family_settles_what_integers_are_and_nothing_else() -> None:
    text, integers = ("8.8.8.0", "8.8.8.255"), ("5", "9")
    assert pairs([integers, text], family=6) == [(6, 5, 9), span(4, 0x08080800, 8)]
    large = [("5", "4294967296"), ("5", "18446744073709551625")]
    assert pairs([*large, integers, ("2a00::", "2a00::1")], family=4) == [
        *("not an address", "not an address"),
        (4, 5, 9),
        (6, 0x2A00 << 112, 0x2A00 << 112 | 1),
    ]


EDGES = [(1 << bits) + step for bits in (0, 32, 63, 64, 65, 127, 128, 129) for step in (-1, 0, 1)]
EDGES += [*(10**power for power in range(41)), *range(V6 - 5, V6 + 5)]


@example([*map(str, EDGES), "00", "007", "0" * 39, "0" * 40, "+1", "1 ", " 1", "1_0"])
@given(st.lists(st.text("0123456789+-_ x\xe9\u0661", max_size=42), min_size=1))
def test_integers(texts: list[str]) -> None:
    """Each integer below 2**128 is an address, and no other text of digits and signs is one."""
    expected: list[Answer] = []
    for text in texts:
        good = text.strip().isascii() and text.strip().isdigit() and len(text.strip()) <= 39
        number = int(text) if good else V6 + 1
        expected.append((6, number, number) if number <= V6 else "not an address")
    assert pairs([(text, text) for text in texts], family=6) == expected
