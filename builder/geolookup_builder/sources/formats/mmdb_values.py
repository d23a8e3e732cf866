"""The values of MMDB records at the paths of their keys, as columns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeAlias

import pyarrow as pa

from geolookup_builder.sources.formats.mmdb_ipinfo import REGION_CODE
from geolookup_builder.sources.formats.mmdb_products import Product

Record: TypeAlias = Any
_ALPHA2 = re.compile(r"[A-Za-z]{2}")
#: Keys that hold a code in some editions, a name in others.
_CODES = {
    ("country_code", "country"): _ALPHA2,
    ("continent_code", "continent"): _ALPHA2,
    ("region_code", "region"): REGION_CODE,
}
#: Limits memory if each record of a file has keys of its own.
_MAX_PATHS = 10_000


def paths_of(records: Sequence[Record]) -> set[str]:
    """Return the paths at which any of the records has a text, a number or a flag."""
    seen: set[str] = set()
    for record in records:
        # Per record too: a single record may have millions of paths.
        seen.update(islice(_paths(record, ""), _MAX_PATHS))
        if len(seen) > _MAX_PATHS:
            break
    return seen


def _paths(value: Record, path: str) -> Iterator[str]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _paths(below, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for at, below in enumerate(value):
            yield from _paths(below, f"{path}.{at}")
    elif isinstance(value, str | int | float):
        yield path


def texts_of(records: Sequence[Record], product: Product) -> dict[str, pa.Array]:
    """Return a text for each record and field: the first that a word or a key states.

    Paths are followed step by step for all records at once; a shared step is followed once.
    """
    values_by_path: dict[str, Sequence[Record]] = {"": records}
    columns: dict[str, list[str | None]] = {}
    for name, keys in product.words.items():
        for path, words in keys.items():
            values = _at(path, values_by_path)
            if name in product.own:
                values = [_list_text(v) if v.__class__ is list else v for v in values]
            _fill(columns, name, _translate(words, values))
    for name, paths in product.fields.items():
        for path in paths:
            _fill(columns, name, _texts(name, path, _at(path, values_by_path)))
    for name, word in product.constants.items():
        columns[name] = [word if record else None for record in records]
    # An empty record states nothing, not even that a flag is false.
    for name, blank in ((name, offer.blank) for name, offer in product.own.items() if offer.blank):
        texts = zip(columns[name], records, strict=True)
        columns[name] = [(text or blank) if record else None for text, record in texts]
    return {
        name: pa.array([text or None for text in columns[name]], pa.string()) for name in columns
    }


def _fill(columns: dict[str, list[str | None]], name: str, texts: list[str | None]) -> None:
    """Add texts of a field to the records that have none."""
    if name not in columns:
        columns[name] = texts
    elif texts.count(None) < len(texts):
        columns[name] = [one or other for one, other in zip(columns[name], texts, strict=True)]


def _at(path: str, values_by_path: dict[str, Sequence[Record]]) -> Sequence[Record]:
    """Return the value of each record at a path; None if there is none."""
    if path not in values_by_path:
        # "city.names.en": the values at "city.names" are found once for all languages.
        above, _, step = path.rpartition(".")
        values = _at(above, values_by_path)
        # "subdivisions.0": a position of a list, or a key "0" of a map.
        if step.isdigit():
            values_by_path[path] = [_item(value, step) for value in values]
        else:
            values_by_path[path] = [v.get(step) if v.__class__ is dict else None for v in values]
    return values_by_path[path]


def _item(value: Record, step: str) -> Record:
    if isinstance(value, list):
        return value[int(step)] if int(step) < len(value) else None
    return value.get(step) if isinstance(value, dict) else None


def _texts(name: str, path: str, values: Sequence[Record]) -> list[str | None]:
    texts = [v if v is None or v.__class__ is str else _text(v) for v in values]
    code = _CODES.get((name, path))
    if code is not None:
        return [text if text and code.fullmatch(text) else None for text in texts]
    return texts


def _text(value: Record) -> str | None:
    """Return a text or number as text; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value)


def _list_text(values: Sequence[Record]) -> str | None:
    """Return a list of texts as JSON, a cell of the type texts; None for any other list."""
    if not all(value.__class__ is str for value in values):
        return None
    return json.dumps(values, ensure_ascii=False)


def _translate(words: Mapping[str, str | None], values: Sequence[Record]) -> list[str | None]:
    """Return the values of the texts of a key; any other text stays, to be counted."""
    texts = [str(v).lower() if v.__class__ is bool else _text(v) for v in values]
    return [text if text is None else words.get(text, text) for text in texts]
