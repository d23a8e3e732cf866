"""Members of rows that have another kind than the contract's, in a dataset that is whole.

A lookup raises DatasetError in both kernels; ``verify`` and ``publish`` name the file.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from geolookup import publish
from geolookup.errors import DatasetError
from tests.corrupt.forging import member
from tests.corrupt.probe import KERNELS
from tests.damage import copied, whole
from tests.envelopes import closed, compact, published
from tests.internals.contract import fields
from tests.internals.dataset import Dataset
from tests.internals.dataset import layout as fmt
from tests.internals.integrity import verify
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


def forgeries() -> Iterator[tuple[str, int, bytes]]:
    """Yield table, number of the member, and its text."""
    for table in TABLES:
        for number, field in enumerate(fields.in_table(table)):
            wrong = (*NOTHING, *WRONG[field.type], *_LIMITS.get(field.member, ()))
            for text in wrong:
                if text or not field.optional:
                    yield table, number, text


def outcomes(dataset: Path) -> set[str]:
    return {
        _outcome(dataset, module, call)
        for module in KERNELS.values()
        for call in ("lookup_json", "lookup")
    }


def _outcome(dataset: Path, module: str, call: str) -> str:
    try:
        kernel = import_module(module).Kernel(Dataset(dataset))
        answer = getattr(kernel, call)(ADDRESS, at=_AT)
        _check(json.loads(answer, parse_constant=_refuse) if call == "lookup_json" else answer)
    except DatasetError as error:
        told = str(error)
        clear = "\n" not in told and len(told) < 500 and str(dataset) in told
        return "refused" if clear else f"{module} {call}: {told[:80]!r}"
    except Exception as error:  # noqa: BLE001 - whatever a lookup lets through is a finding
        return f"{module} {call}: {error!r:.80}"
    return "answered"


def _check(answer: dict[str, object]) -> None:
    """Fail unless an answer, as an envelope or as its data, has the types of the contract."""
    compact(answer)
    _validator().validate(answer if "success" in answer else _enveloped(answer))


@cache
def _validator() -> Any:
    """The closed schema by types and limits: words and codes are what the dataset says."""
    return jsonschema.Draft202012Validator(_without_words(closed(published())))


def _without_words(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    kept = {name: item for name, item in schema.items() if name not in ("pattern", "enum")}
    return {name: _without_words(item) for name, item in kept.items()}


def _refuse(text: str) -> object:
    raise ValueError(f"{text} is not JSON")


def _enveloped(data: object) -> object:
    nothing = {"error": False, "error_code": None, "error_message": None}
    return {"success": True, "data": data, **nothing}


@pytest.mark.parametrize("table", TABLES)
def test_a_member_of_another_kind(tmp_path: Path, table: str) -> None:
    """Every wrong text of a member is refused."""
    name = fmt.TABLES[table]
    wrong = [forgery for forgery in forgeries() if forgery[0] == table]
    for _, number, text in random.Random(table).sample(wrong, min(scaled(4, 60), len(wrong))):
        dataset = copied(whole(), tmp_path / "copy")
        member(dataset, name, number, text)
        assert outcomes(dataset) == {"refused"}, (number, text[:20])
        for take in (verify, lambda path: publish(path, tmp_path / "store")):
            with pytest.raises(DatasetError, match=f"{name}: ") as raised:
                take(dataset)
            assert "\n" not in str(raised.value)
