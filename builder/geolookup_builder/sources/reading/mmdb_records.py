"""The records of an MMDB file as columns of text, one for each path: ``city.names.en``.

A step of a path is a key of a map, or a position in a list. A record that is itself a text or a
number has the path ``.``: some lists state a country code for each network, and no map.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from itertools import islice

import numpy as np
import pyarrow as pa

from geolookup.dataset.intervals import Bools
from geolookup_builder.sources.reading.mmdb_file import Record
from geolookup_builder.sources.reading.text import Layout

#: The path of a record that is a value.
ITSELF = "."
#: Limits memory if each record of a file has keys of its own.
_MAX_PATHS = 10_000
#: For a value that is neither a text nor a number: no field can hold it, so that it is counted.
_NO_CELL = "\0"
#: Floats below hold every integer.
_EXACT = 2.0**53


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
            yield from _paths(below, f"{path}.{at}" if path else str(at))
    else:
        yield path or ITSELF


def columns_of(records: Sequence[Record], layout: Layout) -> pa.RecordBatch:
    """Return a dictionary-encoded column for each path in ``layout.fields``.

    Those in ``layout.lists`` can hold lists of texts.
    Paths are followed step by step for all records at once; a shared step is followed once.
    """
    values_by_path: dict[str, Sequence[Record]] = {"": records, ITSELF: records}
    columns = {}
    for path in sorted(layout.fields):
        # A map is no value of "country" if "country.iso_code" is read too.
        is_above = any(other.startswith(f"{path}.") for other in layout.fields)
        texts = [
            value or None
            if value.__class__ is str
            else _text(value, path in layout.lists, is_above)
            for value in _at(path, values_by_path)
        ]
        columns[path] = pa.array(texts, pa.string()).dictionary_encode()
    return pa.RecordBatch.from_pydict(columns)


def _at(path: str, values_by_path: dict[str, Sequence[Record]]) -> Sequence[Record]:
    """Return the value of each record at a path; None if there is none."""
    if path not in values_by_path:
        # "city.names.en": the values at "city.names" are found once for all languages.
        above, _, step = path.rpartition(".")
        values = _at(above, values_by_path)
        # "subdivisions.0": a position of a list, or a key "0" of a map.
        if step.isdecimal():
            values_by_path[path] = [_item(value, step) for value in values]
        else:
            values_by_path[path] = [v.get(step) if v.__class__ is dict else None for v in values]
    return values_by_path[path]


def _item(value: Record, step: str) -> Record:
    if isinstance(value, list):
        return value[int(step)] if int(step) < len(value) else None
    return value.get(step) if isinstance(value, dict) else None


def _text(value: Record, may_be_list: bool, is_above: bool) -> str | None:
    """Return a value as a cell: a list of texts as JSON."""
    if value is None or (is_above and isinstance(value, dict | list)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        is_whole = isinstance(value, float) and value.is_integer() and abs(value) < _EXACT
        return str(int(value) if is_whole else value)
    is_flat = isinstance(value, list) and all(isinstance(item, str | int | float) for item in value)
    if may_be_list and is_flat:
        return json.dumps(value, ensure_ascii=False)
    return _NO_CELL


def are_empty(records: Sequence[Record]) -> Bools:
    """Return which records are maps without keys: these state nothing, not even a blank flag."""
    return np.array([record == {} for record in records], bool)


def are_other(records: Sequence[Record], paths: Collection[str]) -> Bools:
    """Return which records are of a kind that none of the paths leads into.

    A text is one if all paths are keys; a map if the only path is ``.``.
    """
    steps = {path.partition(".")[0] if path != ITSELF else path for path in paths}
    kinds: list[type] = []
    if steps - {ITSELF}:
        kinds.append(dict)
    if any(step.isdecimal() for step in steps):
        kinds.append(list)
    if ITSELF in steps:
        kinds += [str, int, float, bool]
    return np.array([record.__class__ not in kinds for record in records], bool)
