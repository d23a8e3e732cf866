"""Every text that a test of addresses uses, by every way into both kernels.

The texts: all of ``tests.address_texts``, texts one to three edits away from them, and addresses
at the bounds of a dataset, with a letter put in anywhere, taken out or changed. `ipaddress` judges
which text is an address. The Python kernel defines its answer, for one text at a time.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pytest

from tests.address_texts import CLEANED, EVERY, NOT_IN_TEXTS, by_ipaddress
from tests.datasets import SMALL
from tests.internals.contract import PATHS, clean_text
from tests.internals.dataset import Dataset
from tests.internals.kernel import python as kernel_python
from tests.kernel.modules import MODULES, compiled, needs_compiled
from tests.kernel.test_locate import SUFFIXES, column, encoded, single
from tests.kernel.test_scan import find
from tests.near_addresses import near_addresses
from tests.strategies import SEEDS, mutated
from tests.text_columns import laid_out, parsed
from tests.tiers import scaled

AT = 1_795_132_800
DATASET = Dataset(SMALL)
Judged = tuple[int, int]  # family and value; (0, 0) for no address


@pytest.fixture(scope="module")
def texts() -> list[str]:
    rng = random.Random(20261120)
    near = islice(near_addresses(rng, DATASET), scaled(2_500, 100_000))
    edited = (mutated(rng, rng.choice(SEEDS)) for _ in range(scaled(2_500, 50_000)))
    return [*EVERY, *near, *edited]


@pytest.fixture(scope="module")
def expected(texts: list[str]) -> list[bytes]:
    """The answers as JSON, of one text at a time by the Python kernel."""
    reference = kernel_python.Kernel(DATASET)
    return [reference.lookup_json(text, at=AT) for text in texts]


def judged(texts: Iterable[str]) -> list[Judged]:
    return [by_ipaddress(text) or (0, 0) for text in texts]


def parse_column(module: Any, texts: list[str], between: bytes = b"") -> list[Judged]:
    data, starts, lengths = laid_out(texts, between)
    return parsed(module.parse_texts, data.tobytes(), starts, lengths)


def shapes(rng: random.Random) -> Iterator[str]:
    """IPv4 addresses, and IPv6 addresses with groups of any widths, cut at any place."""
    for _ in range(scaled(1_000, 5_000)):
        yield ".".join(str(rng.randrange(256)) for _ in range(4))
    for _ in range(scaled(4_000, 20_000)):
        groups = [f"{rng.getrandbits(rng.choice((1, 4, 8, 16))):x}" for _ in range(8)]
        begin = rng.randrange(9)
        yield ":".join(groups[:begin]) + "::" + ":".join(groups[rng.randint(begin, 8) :])
        yield ":".join(groups)


def test_the_texts_are_of_every_kind(texts: list[str]) -> None:
    assert len(EVERY) == len(set(EVERY)) > 500
    families = [family for family, _ in judged(texts)]
    assert min(families.count(family) for family in (0, 4, 6)) > len(texts) / 20
    ends = {text[-1:] for text, family in zip(texts, families, strict=True) if not family}
    assert {".", ":", "0", "a", "%", " ", "\0", "/"} <= ends


@pytest.mark.parametrize("module", MODULES)
def test_columns_of_texts_are_parsed(module: Any, texts: list[str]) -> None:
    """In any order, between any bytes, and as a column of one text, without a neighbour."""
    wanted = judged(texts)
    order = random.Random(1).sample(range(len(texts)), len(texts))
    shuffled = parse_column(module, [texts[at] for at in order])
    for at, item in zip(order, shuffled, strict=True):
        assert item == wanted[at], ascii(texts[at])
    shaped = list(shapes(random.Random(3)))
    expected_of_shapes = judged(shaped)
    # "::" for no group at all is the only one that is not an address.
    assert 0.85 < sum(family > 0 for family, _ in expected_of_shapes) / len(shaped) < 1
    assert parse_column(module, shaped) == expected_of_shapes
    of_every = wanted[: len(EVERY)]
    for between in (b"1", b":", b".", b"f", b"\0", b"::1"):
        assert parse_column(module, [*EVERY], between) == of_every, between
    for text, item in zip(EVERY, of_every, strict=True):
        assert parse_column(module, [text]) == [item], ascii(text)


@pytest.mark.parametrize("module", MODULES)
def test_no_text_is_parsed_outside_the_bytes(module: Any) -> None:
    for start, length in (
        *((-1, 3), (0, -1), (5, -2), (0, 8), (7, 1), (8, 0), (1 << 62, 7), (0, 1 << 62)),
    ):
        result = parsed(module.parse_texts, b"1.2.3.4", [0, start], [7, length])
        assert result == [(4, 0x01020304), (0, 0)], (start, length)
    assert parsed(module.parse_texts, b"\0", [], []) == []
    assert parse_column(module, ["", "", ""]) == [(0, 0)] * 3
    with pytest.raises(ValueError, match="differ in length"):
        parsed(module.parse_texts, b"1.2.3.4", [0, 0], [7])


@pytest.mark.parametrize("module", MODULES)
def test_columns_of_texts_are_located(module: Any, texts: list[str]) -> None:
    """As one text by the single search, whatever bytes follow it."""
    state = module.State(DATASET)
    rows = encoded(texts)
    wanted = list(map(single, rows))
    located = column(state, rows)
    for text, item, row in zip(texts, located, wanted, strict=True):
        assert item == row, ascii(text)
    for data, row in zip(rows[: len(EVERY)], wanted, strict=False):
        # The Python kernel reads a text as a whole.
        is_short = module is not kernel_python and len(data) < 100
        for suffix in SUFFIXES if is_short else SUFFIXES[-1:]:
            assert column(state, [data], suffix) == [row], (data, suffix)


@pytest.mark.parametrize("module", MODULES)
def test_answers(module: Any, texts: list[str], expected: list[bytes]) -> None:
    """One at a time and many at once, as JSON, as dicts, as lines and as values."""
    state, single_text = module.State(DATASET), module.Kernel(DATASET)
    if module is not kernel_python:
        for text, answer in zip(texts, expected, strict=True):
            assert single_text.lookup_json(text, at=AT) == answer, ascii(text)
    assert state.envelopes_json(texts, AT) == expected
    lines = state.lines()
    failed = sum(item.startswith(b'{"success":false') for item in expected)
    assert lines.add(texts, [AT] * len(texts)) == failed
    assert lines.take().split(b"\n") == [*expected, b""]
    assert lines.take() == b""
    kept = [*EVERY, *texts[len(EVERY) :: 10]]
    answers = [*expected[: len(EVERY)], *expected[len(EVERY) :: 10]]
    envelopes = [json.loads(answer) for answer in answers]
    many = state.envelopes(kept, AT)
    values = state.values(kept, ("ip", "location", "network"), AT)
    for text, answer, value, envelope in zip(kept, many, values, envelopes, strict=True):
        assert json.dumps(answer) == json.dumps(envelope), ascii(text)
        assert single_text.lookup(text, at=AT) == envelope, ascii(text)
        data = envelope["data"] or {}
        assert value == (data.get("ip"), data.get("location"), data.get("network")), ascii(text)


@pytest.mark.parametrize("module", MODULES)
def test_members_and_prefixes(module: Any, texts: list[str], expected: list[bytes]) -> None:
    """``values``, ``get`` and ``answer`` by each path, and the network around an address."""
    state, single_text = module.State(DATASET), module.Kernel(DATASET)
    reference = kernel_python.State(DATASET)
    kept = range(0, len(texts), len(texts) // 300)
    rows = state.values([texts[at] for at in kept], tuple(PATHS), AT)
    for at, row in zip(kept, rows, strict=True):
        envelope = json.loads(expected[at])
        answer = single_text.answer(texts[at], at=AT)
        assert answer.to_dict() == envelope, ascii(texts[at])
        if not envelope["success"]:
            assert row == (None,) * len(PATHS)
            continue
        for path, value in zip(PATHS, row, strict=True):
            group, _, member = path.partition(".")
            wanted = envelope["data"][group].get(member) if member else envelope["data"][group]
            assert value == wanted == single_text.get(texts[at], path, at=AT), path
        result = state.rows_and_prefix(texts[at])
        assert result == reference.rows_and_prefix(texts[at]), texts[at]


@pytest.mark.parametrize("module", MODULES)
def test_cleaned_texts(module: Any, texts: list[str], expected: list[bytes]) -> None:
    single_text = module.Kernel(DATASET)
    answers = dict(zip(texts, expected, strict=True))
    cleaned = [text for text in EVERY if clean_text(text) != text]
    assert len(cleaned) >= len(CLEANED)
    for text in cleaned:
        answer = single_text.lookup_json(text, at=AT, clean=True)
        assert answer == answers[str(clean_text(text))], ascii(text)
        assert single_text.lookup(text, at=AT, clean=True) == json.loads(answer), ascii(text)


@needs_compiled
def test_the_texts_as_parts_of_a_text(texts: list[str]) -> None:
    """A reader of any text finds the addresses of the Python kernel, at each offset of a buffer."""
    rows = [row for row in encoded([*EVERY, *texts[len(EVERY) :: 4]]) if len(row) < 1000]
    for begin in range(0, len(rows), 50):
        text = b" ".join(rows[begin : begin + 50])
        assert find(compiled, text) == find(kernel_python, text), text[:200]


def test_the_scan_finds_the_addresses_that_stand_alone() -> None:
    """Those with a decimal digit that are not of eight pairs; of the other texts none is one."""
    for text in EVERY:
        raw, address = text.encode("utf-8", "surrogatepass"), by_ipaddress(text)
        whole = [hit for hit in find(kernel_python, raw) if hit[:2] == (0, len(raw))]
        is_shown = address is not None and raw not in NOT_IN_TEXTS and re.search("[0-9]", text)
        assert [hit[2:] for hit in whole] == [address] * bool(is_shown), ascii(text)
