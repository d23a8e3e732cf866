"""An attack on the page of traffic: every log of a few requests that agrees with a page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow as pa

import geolookup
from geolookup.dataset.intervals import I64, Bools
from geolookup.files.summarize import Summary
from geolookup.files.traffic import STATUSES, Traffic
from geolookup.reports.traffic_cube import cube_of
from geolookup.reports.traffic_groups import groups_of
from geolookup.reports.traffic_times import shown_counts
from tests.conftest import build_at
from tests.tiers import scaled

_COUNTRIES, _NETWORKS, _CODES = ("FR", "US"), (1, 2), (200, 500)
_CELLS = list(product(_COUNTRIES, _NETWORKS, _CODES))
_LEAST = 2


def test_no_page_tells_of_a_small_group(tmp_path: Path) -> None:
    rows = [
        f"8.8.{at}.0/24,{country},{network}\n"
        for at, (country, network) in enumerate(product(_COUNTRIES, _NETWORKS))
    ]
    text = "network,country_code,asn\n" + "".join(rows)
    dataset, _ = build_at(tmp_path, {"a.csv": text})
    logs = np.array(list(_logs(scaled(3, 5), len(_CELLS))), np.int64)
    groups = np.array(list(_groups()), np.int64)
    sizes = logs @ groups.T
    with geolookup.open(dataset) as engine:
        for log in logs[:: scaled(4, 3)]:
            sums = np.array(list(_stated(engine, log)), np.int64)
            agrees = (logs @ sums.T == log @ sums.T).all(axis=1)
            least, most = sizes[agrees].min(axis=0), sizes[agrees].max(axis=0)
            assert not ((least == most) & (most > 0) & (most < _LEAST)).any(), log


def _logs(requests: int, cells: int) -> Iterator[tuple[int, ...]]:
    """Yield the logs of so many requests, as counts of cells."""
    if cells == 1:
        yield (requests,)
        return
    for first in range(requests + 1):
        for others in _logs(requests - first, cells - 1):
            yield (first, *others)


def _mask(country: str | None, network: int | None, code: int | None) -> Bools:
    """Mark the cells of a group; None: of any country, network or code."""
    wanted = (country, network, code)
    return np.array(
        [all(w in (None, own) for w, own in zip(wanted, cell, strict=True)) for cell in _CELLS]
    )


def _groups() -> Iterator[Bools]:
    for group in product((None, *_COUNTRIES), (None, *_NETWORKS), (None, *_CODES)):
        yield _mask(*group)


def _stated(engine: geolookup.Engine, log: I64) -> Iterator[Bools]:
    """Yield the groups whose sums the page states."""
    addresses = [f"8.8.{at // len(_CODES)}.8" for at in range(len(_CELLS))]
    traffic = Traffic(engine.snapshot())
    summary = Summary(engine, traffic)
    statuses = np.repeat([code for *_, code in _CELLS], log)
    summary.add(pa.array(np.repeat(addresses, log)), statuses=pa.array(statuses, pa.int16()))
    yield _mask(None, None, None)
    for country in groups_of(summary, "countries", 9, _LEAST).top:
        yield _mask(country.members[0], None, None)
    for network in groups_of(summary, "networks", 9, _LEAST).top:
        yield _mask(None, network.members[0], None)
    totals = np.bincount(statuses // 100 - 1, minlength=len(STATUSES))
    by_class = shown_counts(totals, _LEAST)
    yield from (_mask(None, None, code) for code in _CODES if by_class[code // 100 - 1] is not None)
    yield from _stated_by_cube(summary, traffic, log)


def _stated_by_cube(summary: Summary, traffic: Traffic, log: I64) -> Iterator[Bools]:
    cube = cube_of(summary, traffic, _LEAST)
    offered = [[offer.key for offer in offers] for offers in (cube.countries, cube.networks)]
    positions = np.array(
        [[keys.index(key) if key in keys else -1 for keys, key in zip(offered, cell, strict=False)]
         for cell in _CELLS]
    )  # fmt: skip
    for at, own in enumerate(cube.classes):
        mask = (positions == own).all(axis=1)
        assert log[mask].sum() == cube.totals[at]
        yield mask
        for code in _CODES:
            if cube.tables["statuses"][at, code // 100 - 1] >= 0:
                yield mask & _mask(None, None, code)
