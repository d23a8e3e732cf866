"""Dask: a pickled engine answers in other processes as it does here."""

from __future__ import annotations

import geolookup
from tests.skips import needs, optional
from tests.tables import columns

dask = optional("dask.dataframe")
pd = optional("pandas")
pytestmark = needs("pandas", "dask.dataframe")

_ADDRESSES = ["8.8.8.8", "2a02:1::1", None, "10.0.0.1", "x", "11.0.1.9", "11.0.0.7"] * 30


def test_every_row_is_as_one_lookup(engine: geolookup.Engine) -> None:
    data = pd.DataFrame({"ip": pd.array(_ADDRESSES, "str")})
    frame = dask.from_pandas(data, npartitions=4)
    fields = ["location.city_name", "location.country_code", "network.asn", "error_code"]
    plan, wanted = (
        frame.map_partitions(engine.enrich, "ip", fields),
        columns.expected(engine, _ADDRESSES),
    )
    for scheduler in ("threads", "processes"):
        found = plan.compute(scheduler=scheduler, num_workers=1 if scheduler == "processes" else 2)
        for name in (each.replace(".", "_") for each in fields):
            values = [None if pd.isna(each) else each for each in found[name]]
            assert values == wanted[name], (scheduler, name)
