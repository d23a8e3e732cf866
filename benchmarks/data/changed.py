"""The next release of a generated source: some rows have another location, some of these a new one.

Strategy: the CSV is one table of text columns. Another location comes from a row drawn at random;
a new one has a postal code that no other row has.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv

from benchmarks.data.generate import CSV, RECIPE
from benchmarks.data.records import LOCATION_COLUMNS, NETWORK_COLUMNS, text

_COLUMNS = ("network", *LOCATION_COLUMNS, *NETWORK_COLUMNS)
#: Of the rows that change, one in so many has a new location.
_ONE_NEW_IN = 10


def write(recipe: Path, folder: Path, share: float = 0.01, seed: int = 1) -> Path:
    """Write a generated source again, the ``share`` of its rows changed; return the recipe.

    The same source, share and seed give the same bytes.
    """
    rows = _read(recipe.with_name(CSV))
    pv.write_csv(_change(rows, share, np.random.default_rng(seed), seed), folder / CSV)
    return Path(shutil.copy(recipe, folder / RECIPE))


def _read(path: Path) -> pa.Table:
    texts = pv.ConvertOptions(column_types=dict.fromkeys(_COLUMNS, pa.string()))
    return pv.read_csv(path, convert_options=texts).combine_chunks()


def _change(rows: pa.Table, share: float, rng: np.random.Generator, seed: int) -> pa.Table:
    count = round(rows.num_rows * share)
    at = rng.choice(rows.num_rows, count, replace=False)
    source = np.arange(rows.num_rows)
    source[at] = rng.integers(0, rows.num_rows, count)
    for name in LOCATION_COLUMNS:
        rows = _with(rows, name, rows[name].take(pa.array(source)))
    new = np.sort(at[: count // _ONE_NEW_IN])
    codes = pc.binary_join_element_wise(f"N{seed}", text(np.arange(len(new))), "-")
    mask = np.zeros(rows.num_rows, bool)
    mask[new] = True
    postal = rows["postal_code"].combine_chunks()
    return _with(rows, "postal_code", pc.replace_with_mask(postal, pa.array(mask), codes))


def _with(rows: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return rows.set_column(rows.column_names.index(name), name, values)
