"""Datasets of the former format version, made of current ones: CRC-32 in ``json_crc32``."""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path

import pyarrow as pa

from geolookup.dataset import layout as fmt
from tests.corrupt import forging


def former(dataset: Path, output: Path) -> Path:
    """Write a dataset as version 1 of the format has it."""
    shutil.copytree(dataset, output)
    for name in forging.manifest(dataset)["files"]:
        table = forging.table(output, name)
        if fmt.CHECKSUMS in table.column_names:
            texts = table["json"].combine_chunks().view(pa.binary()).to_pylist()
            sums = pa.array([zlib.crc32(text) for text in texts], pa.uint32())
            at = table.schema.get_field_index(fmt.CHECKSUMS)
            forging.write(output, name, table.set_column(at, "json_crc32", sums))
    forging.rewrite(output, forging.manifest(output) | {"format_version": 1})
    return output
