"""Tables with ``as_of``: each row as its generation answers it, in a store and from any periods."""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from functools import cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geolookup
from tests.history import pool
from tests.internals.dataset import Dataset
from tests.internals.kernel import kernel
from tests.internals.kernel import python as kernel_python
from tests.internals.store import Change, pointer
from tests.internals.tables import (
    Generations,
    as_of,
    enrich,
)
from tests.own_random import WINDOWS
from tests.tiers import scaled

KERNELS = {"compiled": kernel.State, "python": kernel_python.State}
#: Own columns whose type is the same in all generations that have them, and of the contract.
FIELDS = ["country", "location.country_languages", "city", "asn", "isp", "own.site", "own.tags"]
FIELDS += ["own.flag", "own.share", "time.zone", "time.current_time", "ip_type", "error_code"]
AT = 1_790_000_000
IPS: list[str | None] = [str(ip_address(window) + at) for window in WINDOWS for at in (0, 3, 9)]
IPS += ["11.1.1.1", "127.0.0.1", "x", None]


@cache
def _state(name: str, number: int) -> Any:
    return KERNELS[name](Dataset(pool.dataset(number)))


def _generations(name: str, begins: Sequence[int], numbers: Sequence[int | None]) -> Generations:
    """Any periods of generations of the pool."""
    by_period = [None if number is None else str(number) for number in numbers]
    return Generations("store", begins, by_period, lambda of: _state(name, int(of)))


def _at(generations: Generations, instant: int | None) -> str:
    """Return the generation of an instant, or why there is none."""
    if instant is None:
        return "no instant"
    period = bisect_right(generations.begins, instant) - 1
    return "before" if period < 0 else generations.by_period[period] or "pruned"


@cache
def _answers(number: int) -> dict[str | None, dict[str, Any]]:
    """Return the answers of the full copy of a generation by address."""
    with geolookup.open(pool.dataset(number)) as engine:
        fields = [*FIELDS, "own.risk"] if number % 3 else FIELDS
        rows = engine.enrich(pa.table({"ip": IPS}), fields, at=AT).to_pylist()
    return {row.pop("ip"): row for row in rows}


@st.composite
def _tables(draw: st.DrawFn) -> tuple[list[int], list[int | None], list[Any]]:
    begins = sorted(draw(st.sets(st.integers(0, 40), min_size=1, max_size=6)))
    number = st.sampled_from([0, 1, 3, 4])
    numbers = [draw(st.none() | number) for _ in begins[1:]] + [draw(number)]
    instant = st.none() | st.integers(-2, 42) | st.sampled_from(begins)
    rows = draw(st.lists(st.tuples(st.sampled_from(IPS), instant), max_size=12))
    return begins, numbers, rows


@pytest.mark.parametrize("name", KERNELS)
@settings(max_examples=scaled(8, 25), deadline=None)
@given(_tables(), st.integers(1, 5), st.sampled_from([1, 2]))
def test_each_row_is_answered_by_its_generation(
    name: str, drawn: Any, block_rows: int, threads: int
) -> None:
    begins, numbers, rows = drawn
    generations = _generations(name, begins, numbers)
    newest = int(numbers[-1])
    fields = [*FIELDS, "own.risk"] if newest % 3 else FIELDS
    ips, instants = [ip for ip, _ in rows], [instant for _, instant in rows]
    table = pa.table({"ip": pa.array(ips, pa.string()), "when": pa.array(instants, pa.int64())})
    plain = enrich(_state(name, newest), table, fields, at=AT)
    generation_of = [_at(generations, instant) for instant in instants]
    answers = [
        _answers(int(generation))[ip] if generation.isdigit() else {}
        for ip, generation in zip(ips, generation_of, strict=True)
    ]
    wanted = [[answer.get(field) for field in plain.schema.names[2:]] for answer in answers]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(as_of, "ROWS", block_rows)
        for data in (table, table.to_reader(3)):
            missing: Counter[str] = Counter()
            result = enrich(
                _state(name, newest),
                data,
                fields,
                at=AT,
                as_of="when",
                generations=generations,
                without_generation=missing,
                threads=threads,
            )
            whole = result if data is table else result.read_all()
            assert whole.schema == plain.schema
            whole.validate(full=True)
            assert [list(row.values())[2:] for row in whole.to_pylist()] == wanted
            kinds = map(generation_of.count, ("before", "pruned", "no instant"))
            assert [missing[reason] for reason in generations.reasons()] == [*kinds]


def test_the_first_refused_row_is_named() -> None:
    generations = _generations("compiled", [0, 10], [0, 1])
    ips = ["8.8.8.1", "8.8.8.2", "10.0.0.1", "x", None]
    table = pa.table({"ip": ips, "when": [11, 12, 3, 12, -5]})
    options: dict[str, Any] = {"on_invalid": "raise", "as_of": "when", "generations": generations}
    for data in (table, table.to_reader(5), table.to_reader(2)):
        with pytest.raises(geolookup.PrivateAddressError) as caught:
            enrich(_state("compiled", 1), data, **options).read_all()
        assert caught.value.__notes__ == ["in row 2, counted from 0"]


def test_few_generations_are_open_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twelve answer rows of each block, and two may be open besides the newest and the next."""
    monkeypatch.setattr(as_of, "ROWS", 24)
    monkeypatch.setattr(as_of, "OPEN", 2)
    live: WeakSet[Any] = WeakSet()
    most = []

    def open_generation(name: str) -> Any:
        dataset = Dataset(pool.dataset(int(name) % 2))
        live.add(dataset)
        most.append(len(live))
        return kernel.State(dataset)

    names = [str(number) for number in range(12)]
    generations = Generations("store", range(12), names, open_generation)
    table = pa.table({"ip": ["8.8.8.3"] * 72, "when": [*range(12)] * 6})
    options: dict[str, Any] = {"as_of": "when", "generations": generations, "threads": 1}
    result = enrich(_state("compiled", 1), table, "country", **options)
    wanted = [_answers(number % 2)["8.8.8.3"]["location_country_code"] for number in range(12)]
    assert result["location_country_code"].to_pylist() == wanted * 6
    assert max(most) <= 4


def test_a_store(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """0 is pruned, 1 is an archive, 3 and 4 are folders; 1 was in force twice."""
    store = tmp_path / "store"
    for number in (0, 1, 3, 4):
        geolookup.publish(pool.dataset(number), store)
    geolookup.prune(store, keep=3)
    numbers = (1, 0, 3, 1, 4)
    content = pointer.read(store)
    content.changes = [
        Change(pool.id_of(n), f"2026-0{at}-01T00:00:00Z") for at, n in enumerate(numbers, 1)
    ]
    pointer.save(store, content)
    instants = {"2025-12-31": None, "2026-01-01": 1, "2026-02-10": None, "2026-03-01": 3}
    instants |= {"2026-04-30": 1, "2026-05-01": 4}
    times = pa.array([f"{text}T00:00:00Z" for text in instants]).cast(pa.timestamp("s", "UTC"))
    visits = pa.table({"ip": ["8.8.8.3"] * len(times), "when": times})
    with geolookup.open(store) as engine, caplog.at_level(logging.WARNING, "geolookup"):
        result = engine.enrich(visits, ["country", "own.site"], as_of="when")
        for name in ("location_country_code", "own_site"):
            assert result[name].to_pylist() == [
                None if number is None else _answers(number)["8.8.8.3"][name]
                for number in instants.values()
            ]
        first, second = (record.getMessage() for record in caplog.records)
        assert f"1 row is before 2026-01-01T00:00:00Z, the first generation of {store}" in first
        assert "1 row is in times whose generation" in second
        wrong: tuple[tuple[Any, Any, type[Exception], str], ...] = (
            (visits, "whem", KeyError, "did you mean as_of='when'"),
            (pa.array(["8.8.8.3"]), "when", KeyError, "a single column"),
            (visits, AT, TypeError, r"engine\.as_of"),
        )
        for data, as_of, error, problem in wrong:
            with pytest.raises(error, match=problem):
                engine.enrich(data, as_of=as_of)
    with pytest.raises(geolookup.DatasetError, match="not a store"):
        geolookup.open(pool.dataset(1)).enrich(visits, as_of="when")
