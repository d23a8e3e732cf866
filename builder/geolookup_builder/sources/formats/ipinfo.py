"""IPinfo and iplocate: CSV, JSON lines or Parquet, told apart by the first bytes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import PurePath

from geolookup.filesystem.unpacking import packing
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats import mmdb
from geolookup_builder.sources.formats.ipinfo_products import IPINFO, IPLOCATE
from geolookup_builder.sources.reading.product_files import detect_product, product_tables
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    if spec.path.lower().removesuffix(packing(PurePath(spec.path))).endswith(".mmdb"):
        return mmdb.FORMAT.read(spec)
    return product_tables(spec, IPINFO, (".csv", ".json", ".jsonl", ".ndjson", ".parquet"))


FORMAT = SourceFormat(
    "ipinfo",
    frozenset({"columns"}),
    _read,
    partial(detect_product, format_="ipinfo", products=IPINFO),
    mmdb.build_date,
    IPINFO,
)
IPLOCATE_FORMAT = SourceFormat(
    "iplocate",
    frozenset(),
    partial(product_tables, products=IPLOCATE, suffixes=(".csv",)),
    partial(detect_product, format_="iplocate", products=IPLOCATE),
    products=IPLOCATE,
)
