"""``clean=True`` in the adapters: each passes it on, and none cleans without it."""

from __future__ import annotations

import geolookup
from tests.skips import needs, optional

DIRTY = ["8.8.8.8:53", " [2001:4860:4860::8888]:443", "10.0.0.1, 8.8.8.8", "nonsense", None]
ASNS = [15169, 15169, 15169, None, None]


@needs("pandas")
def test_pandas(sample: geolookup.Engine) -> None:
    pd = optional("pandas")
    optional("geolookup.tables.pandas")  # registers Series.geo
    for column in (pd.Series(DIRTY), pd.Series(DIRTY, dtype="category"), pd.Series([*DIRTY, 1])):
        dirty = column.geo.enrich("network.asn", engine=sample)
        cleaned = column.geo.enrich("network.asn", engine=sample, clean=True)
        assert dirty["network_asn"].isna().all()
        found = [None if pd.isna(each) else int(each) for each in cleaned["network_asn"]]
        assert found[:5] == ASNS


@needs("polars")
def test_polars(sample: geolookup.Engine) -> None:
    pl = optional("polars")
    optional("geolookup.tables.polars")  # registers Expr.geo
    frame = pl.DataFrame({"ip": DIRTY, "at": [0] * 5})
    for at in (0, pl.col("at")):
        made = frame.select(
            pl.col("ip").geo.lookup("network.asn", engine=sample, at=at, clean=True)
        )
        assert made["ip"].to_list() == ASNS
    lazy = sample.enrich(frame.lazy(), fields="network.asn", clean=True).collect()
    assert lazy["network_asn"].to_list() == ASNS


@needs("duckdb")
def test_duckdb(sample: geolookup.Engine) -> None:
    with optional("duckdb").connect() as connection:
        optional("geolookup.tables.duckdb").register(connection, sample, clean=True)
        rows = connection.execute("select geo_asn(unnest(?))", [DIRTY]).fetchall()
    assert [row[0] for row in rows] == ASNS
