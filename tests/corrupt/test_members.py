"""Members of rows that have another kind than the contract's, in a dataset that is whole.

A lookup in either kernel answers with values of the contract's types, or raises DatasetError.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import DatasetError
from tests.corrupt.forging import member
from tests.corrupt.probe import KERNELS
from tests.damage import copied, whole
from tests.envelopes import check_damaged
from tests.internals.contract import fields
from tests.internals.dataset import Dataset
from tests.internals.dataset import layout as fmt
from tests.tiers import scaled

_AT = 1_795_132_800
ADDRESS = "8.8.8.8"
#: Of no member of any type.
NOTHING: tuple[bytes, ...] = (
    *(b"", b" ", b"Dublin", b'"', b'"Dub"lin"', b'"Dublin" ', b"{}", b'{"a":1}', b"undefined"),
    *(b"NaN", b"Infinity", b"-Infinity", b"nan", b"1e999", b"[[[[1]]]]", b"[" * 5000, b"\0"),
    *(b'"Dublin","latitude":1', b'"\xff"', b'"\xc0\xaf"', b'"\xed\xa0\x80"', b'"\\ud800"'),
    *(b'"Dub\tlin"', b'"Dub\x00lin"', b'"\\u0041"', b'"\\x41"', b'"\\', b'""', b"00", b"+1"),
    *(b"1_000", "\N{ARABIC-INDIC DIGIT ONE}".encode(), b"0x10", b".5", b"1.", b"-", b"1" * 5000),
)
#: Of another type, by the type of the member.
WRONG = {
    fields.TEXT: (b"1", b"1.5", b"true", b'["Dublin"]'),
    fields.TEXTS: (b"1", b'"de"', b"[1]", b"[null]", b'["de",["fr"]]', b'["de" ]', b'[""]'),
    "double": (b'"53.3"', b"true", b"[53.3]", b'12.345678901234567\0,"x"'),
    "int64": (b'"5"', b"1.5", b"-1", b"9223372036854775808", b"[5]"),
    "uint32": (b'"15169"', b"-1", b"0", b"4294967296", b"1.5", b"true", b"null", b"[1]"),
    "bool": (b'"true"', b"1", b"True", b"0"),
}
_LIMITS = {"latitude": (b"90.5", b"-91", b"1e3"), "longitude": (b"180.1", b"-999", b"1e300")}
TABLES = (fields.LOCATION, fields.NETWORK, fields.COUNTRY)
#: Texts of a member by its number, that no value has.
REFUSED: dict[str, tuple[tuple[int, bytes], ...]] = {
    fields.LOCATION: (
        (2, b"1"),
        (2, b'"a'),
        (2, b'"a\\"'),
        (2, b'"\\ud800"'),
        (4, b'"1"'),
        (4, b"1e"),
    ),
    fields.NETWORK: ((0, b"1.5"), (0, b"true"), (0, b'"1"'), (1, b"[]"), (1, b"")),
    fields.COUNTRY: ((9, b"[1]"), (9, b'"de"'), (9, b'["de"'), (11, b"1.5"), (13, b"1")),
}


def forgeries() -> Iterator[tuple[str, int, bytes]]:
    """Yield table, number of the member, and its text."""
    for table in TABLES:
        for number, field in enumerate(fields.in_table(table)):
            wrong = (*NOTHING, *WRONG[field.type], *_LIMITS.get(field.member, ()))
            for text in wrong:
                if text or not field.optional:
                    yield table, number, text


def ask(kernel: Any, path: str | None = None) -> Iterator[Callable[[], object]]:
    """Yield every way to a member, or to all."""
    yield lambda: check_damaged(kernel.lookup(ADDRESS, at=_AT))
    yield lambda: kernel.get(ADDRESS, path or [*fields.NAMES], at=_AT)
    if path is None:
        yield lambda: check_damaged(kernel.lookup_json(ADDRESS, at=_AT))
        yield lambda: repr(kernel.answer(ADDRESS, at=_AT))


@pytest.mark.parametrize("table", TABLES)
def test_a_member_of_another_kind(tmp_path: Path, table: str) -> None:
    """Whatever the text of a member is, answers have the types of the contract."""
    wrong = [forgery for forgery in forgeries() if forgery[0] == table]
    for _, number, text in random.Random(table).sample(wrong, min(scaled(12, 120), len(wrong))):
        dataset = copied(whole(), tmp_path / "copy")
        member(dataset, fmt.TABLES[table], number, text)
        for module in KERNELS.values():
            for call in ask(import_module(module).Kernel(Dataset(dataset))):
                with suppress(DatasetError):
                    call()


@pytest.mark.parametrize("module", KERNELS.values())
def test_values_of_another_type_are_refused(tmp_path: Path, module: str) -> None:
    for table, texts in REFUSED.items():
        for number, text in texts:
            dataset = copied(whole(), tmp_path / "copy")
            member(dataset, fmt.TABLES[table], number, text)
            kernel = import_module(module).Kernel(Dataset(dataset))
            path = fields.in_table(table)[number].path
            for call in ask(kernel, path):
                with pytest.raises(DatasetError, match=rf"{fmt.TABLES[table]}: row \d is damaged"):
                    call()
