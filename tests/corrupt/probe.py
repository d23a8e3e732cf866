"""A thousand lookups on a dataset that may be damaged: envelopes or DatasetError, nothing else."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from ipaddress import IPv4Address, IPv6Address
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import geolookup
from geolookup.errors import DatasetError, InvalidAddressError
from tests import damage
from tests.damage import ADDRESSES, EXPLAINED, whole
from tests.envelopes import check_damaged
from tests.internals.contract import effective, fields, parse
from tests.internals.dataset import Dataset, decisions, known_addresses
from tests.internals.kernel import PRIVATE_ID
from tests.tiers import scaled

LOOKUPS = 1000
KERNELS = {"compiled": "geolookup.kernel._compiled", "python": "geolookup.kernel.python"}
_AT = 1_795_132_800


def addresses(dataset: Path, count: int = LOOKUPS) -> list[str]:
    """Return addresses around the starts of a dataset, and seeded others up to a count."""
    opened, rng = Dataset(dataset), random.Random(1)
    ends = [start + step for start in opened.ipv4_starts[:60] for step in (-1, 0)]
    texts = [*ADDRESSES, *(str(IPv4Address(value)) for value in ends if value >= 0)]
    halves = zip(opened.ipv6_highs, opened.ipv6_lows, strict=True)
    texts += [str(IPv6Address(high << 64 | low)) for high, low in list(halves)[:60]]
    while len(texts) < count * 2 // 3:
        texts.append(str(IPv4Address(rng.getrandbits(32))))
    while len(texts) < count:
        texts.append(str(IPv6Address(0x2 << 124 | rng.getrandbits(124))))
    return texts


#: Of each address its answer, None where it was refused.
Answers = list[bytes | None]


class Probe:
    """Asks one kernel and holds every answer against the contract."""

    def __init__(self, kernel: str, texts: list[str]) -> None:
        self._kernel = import_module(KERNELS[kernel])
        self._texts = texts
        letters = [text.encode() for text in texts]
        self._letters = np.frombuffer(b"".join(letters), np.uint8)
        self._offsets = np.cumsum([0, *map(len, letters)], dtype=np.int64)

    def survey(self, folder: Path) -> Answers:
        """Return what all lookups answer; whatever but DatasetError a damage leads to is raised."""
        try:
            dataset = Dataset(folder)
            kernel, state = self._kernel.Kernel(dataset), self._kernel.State(dataset)
        except DatasetError:
            return [None] * len(self._texts)
        intervals = len(dataset.ipv4_starts) + len(dataset.ipv6_highs)
        _columns(state, self._letters, self._offsets, intervals)
        _many(state, self._texts[::8])
        for text in self._texts[::8]:
            _answer(lambda ip: kernel.lookup(ip, at=_AT), text)
            with suppress(DatasetError, InvalidAddressError):
                assert 0 <= state.rows_and_prefix(text)[2] <= 128
            _view(kernel, text)
        answers = [_answer(lambda ip: kernel.lookup_json(ip, at=_AT), text) for text in self._texts]
        return answers + [_own(kernel, text) for text in self._texts if dataset.schema.own]

    def explain(self, folder: Path) -> None:
        """Ask who decided: this reads files that no lookup reads."""
        for text in (*EXPLAINED, "10.0.0.1"):
            with suppress(DatasetError):
                dataset = Dataset(folder)
                sources = dataset.manifest.metadata().sources
                decisions(dataset, sources, *effective(*parse(text)))


def probes() -> list[Probe]:
    pytest.importorskip(KERNELS["compiled"], reason="the extension was not built")
    texts = addresses(whole(), scaled(0, LOOKUPS // 4))
    return [Probe(kernel, texts) for kernel in KERNELS]


def read_whole(folder: Path) -> None:
    """Read tables as a whole: counts, changes, networks, and columns of every field."""
    with suppress(DatasetError):
        known_addresses(folder)
    for read in (damage.walk, _enrich, _prefixes, _diff):
        try:
            with geolookup.open(folder) as engine:
                read(engine)
        except DatasetError as error:
            damage.refused(error, str(folder))


def _enrich(engine: geolookup.Engine) -> None:
    table = pa.table({"ip": ADDRESSES, "at": range(len(ADDRESSES))})
    options: Any
    for options in ({"at": 0}, {"time_column": "at"}):
        columns = engine.enrich(table, _groups(engine), threads=1, **options)
        columns.validate(full=True)
        assert len(columns.to_pylist()) == len(ADDRESSES)


def _prefixes(engine: geolookup.Engine) -> None:
    where = ["country=US,null", *["own.tags=dns,null"] * ("own.tags" in engine.metadata.fields)]
    engine.prefix_table(where, by=["asn", "city", *_groups(engine)[4:]]).validate(full=True)


def _diff(engine: geolookup.Engine) -> None:
    geolookup.diff(whole(), engine.path)


def _groups(engine: geolookup.Engine) -> Any:
    return [*fields.GROUPS, *["own"] * bool(engine.metadata.columns)]


def look_up(dataset: Path, asked: list[Probe], *, explain: bool = False) -> None:
    """Ask both kernels: whatever but DatasetError a damage leads to is raised."""
    for probe in asked:
        probe.survey(dataset)
        if explain:
            probe.explain(dataset)


def _answer(lookup: Callable[[str], Any], text: str) -> bytes | None:
    try:
        answer = lookup(text)
    except DatasetError:
        return None
    check_damaged(answer)
    return answer if isinstance(answer, bytes) else _compact(answer)


def _own(kernel: Any, text: str) -> bytes | None:
    try:
        return _compact(kernel.own(text))
    except DatasetError:
        return None


def _compact(answer: object) -> bytes:
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()


def _view(kernel: Any, text: str) -> None:
    try:
        data = (answer := kernel.answer(text, at=_AT)).to_dict()["data"] or {}
    except DatasetError:
        return
    repr(answer)
    for group in fields.GROUPS:
        view = getattr(answer, group)
        for name, value in data.get(group, {}).items():
            assert name == "current_time" or getattr(view, name) == value


def _many(state: Any, texts: list[str]) -> None:
    """Ask for many addresses at once, a few at a time, because one damaged row refuses them all."""
    lines = state.lines()
    for at in range(0, len(texts), 5):
        chunk = texts[at : at + 5]
        with suppress(DatasetError):
            lines.add(chunk, _AT)
        with suppress(DatasetError):
            _check_all(state.envelopes_json(chunk, _AT))
        with suppress(DatasetError):
            _check_all(state.envelopes(chunk, _AT))
        with suppress(DatasetError):
            assert len(state.values(chunk, ("location", "network.isp"), _AT)) == len(chunk)
    _check_all(line.removesuffix(b"\n") for line in io.BytesIO(lines.take()))


def _check_all(answers: Iterable[Any]) -> None:
    for answer in answers:
        check_damaged(answer)


def _columns(state: Any, letters: Any, offsets: Any, intervals: int) -> None:
    size = len(offsets) - 1
    rows, families = np.zeros(size, np.int32), np.zeros(size, np.uint8)
    with suppress(DatasetError):
        state.locate_texts(letters, offsets, rows, families)
        assert set(families.tolist()) <= {0, 4, 6}
        assert PRIVATE_ID <= rows.min() <= rows.max() < intervals
        with suppress(IndexError):  # its own way to say that an interval does not exist
            state.take_rows(rows, np.zeros(size, np.uint32), np.zeros(size, np.uint32))
