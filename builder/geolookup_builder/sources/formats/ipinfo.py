"""IPinfo, both generations of files: CSV, JSON lines or Parquet, told apart by the first bytes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import PurePath

from geolookup.filesystem.unpacking import packing
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats import mmdb
from geolookup_builder.sources.formats.ipinfo_products import PRODUCTS
from geolookup_builder.sources.reading.product_files import (
    detect_product,
    offered_columns,
    product_tables,
)
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable

_NAME = "ipinfo"
_SUFFIXES = (".csv", ".json", ".jsonl", ".ndjson", ".parquet")


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    if spec.path.lower().removesuffix(packing(PurePath(spec.path))).endswith(".mmdb"):
        yield from mmdb.FORMAT.read(spec)
    else:
        yield from product_tables(spec, PRODUCTS, _SUFFIXES)


FORMAT = SourceFormat(
    _NAME,
    frozenset({"columns"}),
    _read,
    partial(detect_product, format_=_NAME, products=PRODUCTS),
    mmdb.build_date,
    offered_columns(PRODUCTS),
)
