"""Columns of decimal integers: each row as Python's ``int`` reads it, up to 128 bits."""

from __future__ import annotations

from collections.abc import Sequence

from geolookup_builder.byte_columns import CHUNK, parse_integers
from hypothesis import given
from hypothesis import strategies as st

from geolookup.contract.address import IPV6_MAX
from tests.text_columns import laid_out


def scalar_integer(text: str) -> int | None:
    good = text.isascii() and text.isdigit() and len(text) <= len(str(IPV6_MAX))
    return int(text) if good and int(text) <= IPV6_MAX else None


def check_integers(rows: Sequence[str]) -> None:
    high, low, good = (column.tolist() for column in parse_integers(*laid_out(rows)))
    values = zip(high, low, good, strict=True)
    found = [top << 64 | rest if ok else None for top, rest, ok in values]
    assert found == [scalar_integer(text) for text in rows]


@given(
    st.lists(
        st.integers(0, 1 << 130).map(str)
        | st.integers(0, 128).flatmap(
            lambda bits: st.integers(-2, 2).map(lambda d: str(2**bits + d))
        )
        | st.text("0123456789+-_. x\xe9\u0661", max_size=42)
    )
)
def test_integers(rows: list[str]) -> None:
    check_integers(rows)


def test_integers_at_the_limits() -> None:
    edges = [
        (1 << bits) + step for bits in (0, 32, 63, 64, 65, 127, 128, 129) for step in (-1, 0, 1)
    ]
    tens = [10**power for power in range(41)]
    check_integers([str(each) for each in edges + tens])
    check_integers(["0", "00", "007", "0" * 39, "0" * 40, "", "-1", "+1", "1 ", " 1", "1_0", "1.0"])
    check_integers([str(IPV6_MAX - 5 + step) for step in range(CHUNK + 10)])
