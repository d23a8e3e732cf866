"""The manifest: what the dataset is, where its buffers lie, and its generation.

The generation is the SHA-256 over the logical columns and the manifest's
logical part (all but ``generation`` and ``files``), so that another version
of Arrow, which may lay files out differently, gives the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from builder.intern import Interned
from builder.points import Bools
from builder.provenance import Coverage, coverage
from builder.recipe import Recipe
from builder.reference.credits import CREDITS, Credit
from geolookup import format as fmt


def logical(
    recipe: Recipe,
    interned: Interned,
    tables: Mapping[str, pa.Table],
    added: Sequence[Credit],
) -> dict[str, Any]:
    """Return the manifest without generation and files; ``added`` are credits besides the usual."""
    decided = coverage(interned.provenance, len(recipe.sources))
    reference = CREDITS if recipe.countries is None else ()
    return {
        "format": fmt.FORMAT,
        "format_version": fmt.FORMAT_VERSION,
        "name": recipe.name,
        "sources": _sources(recipe, decided),
        "credits": _credits([*reference, *added]),
        "fields": _fields(tables),
        "counts": {
            "ipv4_intervals": tables[fmt.IPV4].num_rows,
            "ipv6_intervals": tables[fmt.IPV6].num_rows,
            "locations": tables[fmt.LOCATION].num_rows - 1,
            "networks": tables[fmt.NETWORK].num_rows - 1,
            "countries": tables[fmt.COUNTRY].num_rows - 1,
            "zones": tables[fmt.ZONE].num_rows - 1,
        },
        "coverage": _total(decided),
    }


def _credits(listed: Iterable[Credit]) -> list[dict[str, str]]:
    names = ("name", "licence", "attribution", "url")
    return [{name: getattr(credit, name) for name in names} for credit in listed]


def _fields(tables: Mapping[str, pa.Table]) -> list[str]:
    """Return the contract paths that are known for some address."""
    country, zone = tables[fmt.COUNTRY], tables[fmt.ZONE]
    groups = [
        ("location", country, fmt.COUNTRY_MEMBERS, ""),
        ("location", tables[fmt.LOCATION], fmt.PLACE_MEMBERS, ""),
        ("currency", country, fmt.CURRENCY_MEMBERS, "currency_"),
        ("network", tables[fmt.NETWORK], fmt.NETWORK_MEMBERS, ""),
    ]
    known = [
        f"{group}.{name}"
        for group, table, names, prefix in groups
        for name in names
        if table[prefix + name].null_count < table.num_rows
    ]
    # The instant is known even where the zone is not.
    timed = fmt.TIME_MEMBERS if zone.num_rows > 1 else ("current_timestamp",)
    return sorted([*known, *(f"time.{name}" for name in timed)])


def _sources(recipe: Recipe, decided: Sequence[Coverage]) -> list[dict[str, Any]]:
    return [
        {"format": spec.format, **spec.texts, "name": spec.name, "coverage": coverage}
        for spec, coverage in zip(recipe.sources, decided, strict=True)
    ]


def _total(decided: Sequence[Coverage]) -> Coverage:
    """Return how many addresses each layer is known for, whichever source decides it."""
    families = ("ipv4", "ipv6")
    return {
        layer: {
            family: sum(each[layer][family] for each in decided if layer in each)
            for family in families
        }
        for layer in fmt.LAYERS
    }


def generation(manifest: Mapping[str, Any], tables: Mapping[str, pa.Table]) -> str:
    """Return the generation id of a logical manifest and the columns it describes."""
    digest = hashlib.sha256(fmt.canonical(manifest))
    for name in sorted(tables):
        for column in tables[name].column_names:
            values = _decoded(tables[name][column].combine_chunks())
            kind, buffers = _text(values) if _is_text(values) else _numbers(values)
            digest.update(f"{name}/{column}:{kind}:{len(values)}\n".encode())
            digest.update(np.packbits(_valid(values)).tobytes())
            for buffer in buffers:
                digest.update(buffer)
    return digest.hexdigest()


def _decoded(values: pa.Array) -> pa.Array:
    """Decode dictionaries, and write lists as text, so that only values count."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return pc.binary_join(values, ",") if pa.types.is_list(values.type) else values


def _is_text(values: pa.Array) -> bool:
    return bool(pa.types.is_string(values.type) or pa.types.is_large_string(values.type))


def _valid(values: pa.Array) -> Bools:
    return np.asarray(values.is_valid().to_numpy(zero_copy_only=False), bool)


def _text(values: pa.Array) -> tuple[str, list[Any]]:
    """Return lengths as little-endian 64-bit integers, and all letters."""
    values = values.cast(pa.large_string()).fill_null("")
    _, offsets, data = values.buffers()
    bounds = np.frombuffer(offsets, np.int64)[values.offset :][: len(values) + 1]
    letters = memoryview(data or b"")[bounds[0] : bounds[-1]]
    return "text", [np.diff(bounds).astype("<i8"), letters]


def _numbers(values: pa.Array) -> tuple[str, list[Any]]:
    """Return the values as numpy lays them out, little-endian; null is 0."""
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.uint8())
    plain = values.fill_null(0).to_numpy(zero_copy_only=False)
    little = plain.astype(plain.dtype.newbyteorder("<"))
    return str(little.dtype), [np.ascontiguousarray(little)]


def describe(path: Path) -> dict[str, Any]:
    """Return what the manifest says of one file: size, digest, and where each buffer lies."""
    with pa.memory_map(str(path)) as source:
        whole = source.read_buffer()
        with pa.ipc.open_file(pa.BufferReader(whole)) as reader:
            batch = reader.read_all().combine_chunks().to_batches()[0]
            return {
                "bytes": whole.size,
                "sha256": hashlib.sha256(whole).hexdigest(),
                "rows": batch.num_rows,
                "columns": {
                    name: _array(batch.column(name), whole.address) for name in batch.schema.names
                },
            }


def _array(array: pa.Array, base: int) -> dict[str, Any]:
    described: dict[str, Any] = {
        "type": str(array.type),
        "buffers": [_buffer(buffer, base) for buffer in array.buffers()],
    }
    if pa.types.is_dictionary(array.type):
        described["dictionary"] = {
            "length": len(array.dictionary),
            **_array(array.dictionary, base),
        }
    return described


def _buffer(buffer: pa.Buffer | None, base: int) -> list[int] | None:
    """Return offset and length; an empty buffer lies nowhere in the file, so it gets offset 0."""
    if buffer is None:
        return None
    return [buffer.address - base, buffer.size] if buffer.size else [0, 0]
