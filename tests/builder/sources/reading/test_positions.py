"""The lines of records, as the standard CSV reader finds them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Literal

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.internals.builder import Layout, Member, delimited, find_rejects, from_networks

MASK = re.compile(rb"(?m)^#[^\n]*\n?")
_PIECES = ("a", ",", "\n", "\n", "\r\n", '"', '""', '"a,b"', "\r", "#x", " ", "é", '"\n"', ',"b"\n')
texts = st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)


def member(text: str) -> Member:
    @contextmanager
    def opened() -> Iterator[IO[bytes]]:
        yield io.BytesIO(text.encode())

    return Member("a.csv", opened)


def layouts(quoted: bool, header: bool, mask: bool) -> Layout:
    none: frozenset[str] = frozenset()
    pattern = MASK if mask else None
    return Layout((), none, none, header=header, quoted=quoted, mask=pattern)


def located(text: str, layout: Layout) -> list[tuple[int, str]]:
    """Return line and text of the records, without the header, as the standard CSV reader does."""
    if layout.mask is not None:
        text = re.sub("\r\n?", "\n", text).removeprefix("\ufeff")
        text = MASK.sub(b"\n", text.encode()).decode()
    lines = list(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if layout.quoted else csv.QUOTE_NONE
    rows, passed, records = csv.reader(lines, quoting=quoting), 0, []
    for row in rows:
        if row:
            records.append((passed + 1, "".join(lines[passed : rows.line_num]).rstrip("\r\n")))
        passed = rows.line_num
    return records[layout.header :]


@example('\ufeffn\n\n\n"x\n\ny",z\r\n#c\nlast', True, True, True, 1 << 24)
@example('n\na"b,"c\nd"\ne\n', True, True, False, 1 << 24)
@example("a\rb\n", False, False, False, 4)
@given(texts, st.booleans(), st.booleans(), st.booleans(), st.sampled_from([3, 7, 1 << 24]))
def test_records_are_those_of_the_csv_reader(
    text: str, quoted: bool, header: bool, mask: bool, block: int
) -> None:
    layout, source = layouts(quoted and not mask, header, mask), member(text)
    expected = located(text, layout)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "BLOCK_BYTES", block)
        for step in (1, 2):
            wanted = dict.fromkeys(range(1, len(expected) + 1, step), "")
            rejects = find_rejects(source, wanted, layout=layout)
            assert [(reject.line, reject.text) for reject in rejects] == expected[::step]


def test_blocks_without_wanted_records_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 8)
    text = 'n,m\n1,2\n\n3,"4\n5"\nbad\n6,7\n8\n'
    layout = Layout(("n", "m"), frozenset({"n"}), frozenset({"m"}))
    none = from_networks(pa.array([], pa.large_string()))
    first, *_ = delimited.batches(member(text), layout, lambda _rows: (none, {}))
    numbers = first.numbers
    assert numbers.skipped == [3, 5]
    found = numbers.find_rejects(numbers.member, {3: "a", 5: "b"})
    assert [(r.line, r.reason, r.text) for r in found] == [(6, "a", "bad"), (8, "b", "8")]
