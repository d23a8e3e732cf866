"""The calendar of both kernels and of the columns: fixed edges, then `datetime` at random.

Strategy: every zone of the dataset has one offset at all times, and the local time comes
from `datetime.timezone`, without a tz database.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
import pytest

from geolookup import tables
from tests.conftest import build_at
from tests.internals.contract import EARLIEST, LATEST
from tests.internals.dataset import Dataset
from tests.kernel.modules import MODULES

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Zone and hours east of UTC. POSIX counts westward, hence the names.
ZONES = {"Etc/UTC": 0, "Etc/GMT-14": 14, "Etc/GMT+12": -12, "Etc/GMT+1": -1, "Etc/GMT-1": 1}
ADDRESSES = {zone: f"8.8.{number}.8" for number, zone in enumerate(ZONES)}
SECOND, DAY = timedelta(seconds=1), 86_400
#: The days around which calendars go wrong: leap years, centuries without a leap day, the ends.
DAYS = (
    *("0001-01-02", "0001-03-01", "0004-02-29", "0100-02-28", "0100-03-01", "0400-02-29"),
    *("1582-10-15", "1899-12-31", "1900-02-28", "1900-03-01", "1904-02-29", "1969-12-31"),
    *("1970-01-01", "1972-02-29", "1999-12-31", "2000-02-28", "2000-02-29", "2000-03-01"),
    *("2000-12-31", "2024-02-29", "2024-12-31", "2100-02-28", "2100-03-01", "2100-12-31"),
    *("2400-02-29", "4000-02-29", "9996-02-29", "9999-02-28", "9999-03-01", "9999-12-30"),
)
#: Not even `datetime` is trusted with these.
WRITTEN = {
    951_782_400: "2000-02-29T00:00:00+00:00",
    4_107_542_400: "2100-03-01T00:00:00+00:00",
    4_107_542_399: "2100-02-28T23:59:59+00:00",
    -2_203_891_200: "1900-03-01T00:00:00+00:00",
    -2_203_891_201: "1900-02-28T23:59:59+00:00",
    EARLIEST: "0001-01-02T00:00:00+00:00",
    LATEST - 1: "9999-12-30T23:59:59+00:00",
}
Ask = tuple[str, int]  # a zone and an instant


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    text = "network,time_zone\n" + "".join(f"{ADDRESSES[zone]}/32,{zone}\n" for zone in ZONES)
    return Dataset(build_at(tmp_path_factory.mktemp("calendar"), {"a.csv": text})[0])


@pytest.fixture(scope="module", params=MODULES)
def module(request: pytest.FixtureRequest) -> Any:
    return request.param


def wanted(zone: str, at: int) -> str:
    local = timezone(timedelta(hours=ZONES[zone]))
    return (EPOCH + timedelta(seconds=at)).astimezone(local).isoformat()


def check(module: Any, dataset: Dataset, asked: Iterable[Ask]) -> None:
    """The local times of a dict, of JSON and of a column equal `datetime`."""
    single, asked = module.Kernel(dataset), list(asked)
    column = pa.table({"ip": [ADDRESSES[zone] for zone, _ in asked], "at": [at for _, at in asked]})
    table = tables.enrich(module.State(dataset), column, "time.current_time", time_column="at")
    for (zone, at), in_column in zip(asked, table["time_current_time"].to_pylist(), strict=True):
        as_json = json.loads(single.lookup_json(ADDRESSES[zone], at=at))
        as_dict = single.lookup(ADDRESSES[zone], at=at)
        times = [answer["data"]["time"]["current_time"] for answer in (as_json, as_dict)]
        assert [*times, in_column] == [wanted(zone, at)] * 3


def test_fixed_edges(module: Any, dataset: Dataset) -> None:
    begins = [(datetime.fromisoformat(f"{day}T00:00Z") - EPOCH) // SECOND for day in DAYS]
    around = {begin + second for begin in begins for second in (-1, 0, 1, 43_200, DAY - 1, DAY)}
    instants = [at for at in around if EARLIEST <= at < LATEST]
    for at, text in WRITTEN.items():
        assert at in instants
        assert wanted("Etc/UTC", at) == text
    check(module, dataset, [(zone, at) for zone in ZONES for at in instants])
