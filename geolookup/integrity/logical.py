"""What follows from the columns alone and stands in the manifest: counts, fields, generation.

The compiler writes these down and ``verify`` compares them. ``tables`` are
Arrow tables or record batches by file name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract import fields as contract
from geolookup.dataset import layout as fmt


def counts(tables: Mapping[str, Any]) -> dict[str, int]:
    """Return how many there are of what the dataset holds; unknown rows are not counted."""
    return {
        "ipv4_intervals": tables[fmt.IPV4].num_rows,
        "ipv6_intervals": tables[fmt.IPV6].num_rows,
        "locations": tables[fmt.LOCATION].num_rows - 1,
        "networks": tables[fmt.NETWORK].num_rows - 1,
        "countries": tables[fmt.COUNTRY].num_rows - 1,
        "zones": tables[fmt.ZONE].num_rows - 1,
    }


def fields(tables: Mapping[str, Any]) -> list[str]:
    """Return the contract paths that are known for some address."""
    known = []
    for field in contract.FIELDS:
        # The rest of the time follows from the zone, but the instant is known without one.
        table = tables[fmt.TABLES[field.table or contract.ZONE]]
        column = table[field.column or "zone"]
        if field.group and (column.null_count < table.num_rows or not field.nullable):
            known.append(field.path)
    return sorted(known)


def generation(manifest: Mapping[str, Any], tables: Mapping[str, Any]) -> str:
    """Return the SHA-256 over a manifest's logical part and the columns that it describes.

    That part is all but ``generation`` and ``files``, so that another version
    of Arrow, which may lay files out differently, gives the same.
    """
    logical = {key: value for key, value in manifest.items() if key not in ("generation", "files")}
    digest = hashlib.sha256(fmt.canonical(logical))
    for name in sorted(tables):
        for column in tables[name].schema.names:
            values = _decoded(tables[name][column])
            kind, buffers = _text(values) if _is_text(values) else _numbers(values)
            digest.update(f"{name}/{column}:{kind}:{len(values)}\n".encode())
            digest.update(np.packbits(_valid(values)).tobytes())
            for buffer in buffers:
                digest.update(buffer)
    return digest.hexdigest()


def _decoded(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Decode dictionaries, and write lists as text, so that only values count."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return pc.binary_join(values, ",") if pa.types.is_list(values.type) else values


def _is_text(values: pa.Array) -> bool:
    return bool(pa.types.is_string(values.type) or pa.types.is_large_string(values.type))


def _valid(values: pa.Array) -> np.typing.NDArray[np.bool_]:
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
