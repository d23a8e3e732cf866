"""The own columns that readers deliver, as the compiler gets them: cells of batches, as texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ipaddress import IPv4Address, IPv6Address, summarize_address_range
from pathlib import Path
from typing import Any

from tests.internals.builder import FORMATS, Batch, auto, loading
from tests.internals.builder import VENDOR_COLUMNS_COLUMNS as COLUMNS

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_VALUES: dict[str, Callable[[str], Any]] = {
    "integer": int,
    "real": float,
    "text": str,
    "boolean": _BOOLEANS.__getitem__,
}
#: The type of each offered column; LANG is German.
ALL = {column.name.replace("LANG", "de"): column.type for column in COLUMNS}


def batches(
    folder: Path,
    files: Mapping[str, str | bytes],
    format_: str,
    path: str,
    columns: Mapping[str, str],
    *options: str,
) -> list[Batch]:
    """The batches of a source in a recipe with ``[columns]``."""
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        (folder / name).write_bytes(data)
    declared = "".join(f'{name} = "{kind}"\n' for name, kind in columns.items())
    lines = "\n".join(options)
    (folder / "r.toml").write_text(
        f'[dataset]\nname = "t"\n[columns]\n{declared}'
        f'[[source]]\nformat = "{format_}"\npath = "{path}"\n{lines}\n',
        encoding="utf-8",
    )
    [spec] = loading.load(folder / "r.toml").sources
    spec = auto.detect_format(spec, FORMATS)
    return [batch for table in FORMATS[spec.format].read(spec) for batch in table.batches]


def delivered(
    folder: Path,
    files: Mapping[str, str | bytes],
    format_: str,
    path: str,
    *options: str,
    columns: Mapping[str, str] | None = None,
) -> dict[str, dict[str, Any]]:
    """The known own columns of each row by its network; tables are joined, the first decides."""
    declared = ALL if columns is None else columns
    rows: dict[str, dict[str, Any]] = {}
    for batch in batches(folder, files, format_, path, declared, *options):
        cells = {
            name.removeprefix("own."): column.to_pylist()
            for name, column in batch.fields.items()
            if name.startswith("own.")
        }
        for row in range(len(batch)):
            known = {
                name: _VALUES[declared[name]](column[row])
                for name, column in cells.items()
                if column[row] not in (None, "")
            }
            network = _network(batch, row)
            rows[network] = known | rows.get(network, {})
    return rows


def _network(batch: Batch, row: int) -> str:
    kind = IPv4Address if batch.ranges.family[row] == 4 else IPv6Address
    ends = kind(batch.ranges.first.item(row)), kind(batch.ranges.last.item(row))
    networks = [str(network) for network in summarize_address_range(*ends)]
    return networks[0] if len(networks) == 1 else f"{ends[0]}-{ends[1]}"
