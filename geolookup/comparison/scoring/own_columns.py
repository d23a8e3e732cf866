"""Own columns of a dataset compared with ground truth: a value agrees if it is equal.

The truth states an own column in a column ``own.NAME``. Of several files the first with a value for
an address decides, for each column by itself. Addresses are counted by family; special-purpose
space counts for private columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from geolookup.comparison.overlay import FAMILIES, Side, special_space
from geolookup.comparison.scoring.places import Partition, first_stating
from geolookup.comparison.values import in_common
from geolookup.contract.fields import OWN, OWN_PREFIX, Field
from geolookup.contract.special import CARRIES_IPV4, PUBLIC
from geolookup.dataset import layout as fmt
from geolookup.dataset.arrow_files import numbers_of, read, starts_of, type_of
from geolookup.dataset.files import Dataset
from geolookup.dataset.intervals import I64, Bools, overlay, sizes
from geolookup.tables.row_tables import row_tables

#: The kinds of metrics, as the levels of a location have them.
KINDS = ("agree", "wrong", "null")


@dataclass(frozen=True, slots=True)
class OwnTruth:
    """The own columns of one truth: the row of each interval, and by path the value of each row.

    Row 0 states nothing.
    """

    partitions: Mapping[int, Partition]
    columns: Mapping[str, pa.Array]


def own_metric_names(own: Sequence[Field]) -> tuple[str, ...]:
    """Return the metrics of own columns, such as ``own.site_id_agree``."""
    return tuple(f"{field.path}_{kind}" for field in own for kind in KINDS)


def own_names(metrics: Iterable[str]) -> list[str]:
    """Return the metrics of own columns among the metrics of a part."""
    return [name for name in metrics if name.startswith(OWN_PREFIX)]


def own_paths(metrics: Iterable[str]) -> list[str]:
    """Return the own columns that metrics of a part are of."""
    return list(dict.fromkeys(name.rpartition("_")[0] for name in own_names(metrics)))


def own_of_datasets(datasets: Sequence[Dataset]) -> tuple[Field, ...]:
    """Return the own columns of several datasets, each path once."""
    fields = {field.path: field for dataset in datasets for field in dataset.schema.own}
    return tuple(fields.values())


def truth_of_dataset(folder: Path) -> OwnTruth:
    """Return the own columns of a dataset of ground truth, read into memory."""
    rows = read(folder / fmt.OWN)[0]
    partitions = {}
    for family, name in fmt.INTERVALS.items():
        batch = read(folder / name)[0]
        numbers = numbers_of(batch, OWN).astype(np.int64)
        partitions[family] = Partition(starts_of(batch), numbers)
    names = [name for name in rows.schema.names if name not in fmt.JSON]
    return OwnTruth(partitions, {OWN_PREFIX + name: rows.column(name) for name in names})


def own_column_values(field: Field, cells: pa.Array) -> tuple[pa.Array, int]:
    """Return the values of texts after row 0, and how many of them are invalid."""
    from geolookup_builder.tables import as_stored
    from geolookup_builder.values import Reference, clean

    cleaned = clean(field, cells, Reference({}, {}, ()))
    values = as_stored(cleaned.values, field).cast(type_of(field))
    return pa.concat_arrays([pa.nulls(1, values.type), values]), int(np.sum(cleaned.invalid))


def own_metrics(truths: Sequence[OwnTruth], dataset: Dataset) -> dict[str, dict[str, float]]:
    """Return the metrics of own columns by part, "ipv4" and "ipv6".

    Only metrics of columns that the truth states for an address of the part.
    """
    if not dataset.schema.own or not truths:
        return {}
    table = row_tables(dataset)
    sides = {family: Side(dataset, family) for family in FAMILIES}
    return {
        f"ipv{family}": {
            name: share
            for field in dataset.schema.own
            for name, share in _metrics(truths, field, table.column(field), sides[family], family)
        }
        for family in FAMILIES
    }


def _metrics(
    truths: Sequence[OwnTruth], field: Field, values: pa.Array, side: Side, family: int
) -> Iterator[tuple[str, float]]:
    stating = [truth for truth in truths if field.path in truth.columns]
    if not stating or OWN not in side.rows:
        return
    partition, stated = _together(stating, field, family)
    pair = in_common(stated.cast(type_of(field)), values)
    special, kinds = special_space(family)
    starts, (in_special, in_truth, in_dataset) = overlay([special, partition.starts, side.starts])
    truth = pair.old[partition.row[in_truth]]
    answer = pair.new[side.rows[OWN][in_dataset]]
    counted = (truth >= 0) & _has_answers(field, kinds[in_special])
    weight = sizes(starts) * counted
    if total := float(weight.sum()):
        masks = {"agree": truth == answer, "null": answer < 0}
        masks["wrong"] = ~(masks["agree"] | masks["null"])
        for kind in KINDS:
            yield f"{field.path}_{kind}", float(weight[masks[kind]].sum()) / total


def _has_answers(field: Field, kinds: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> Bools:
    """Mark the space in which a column may be known."""
    marks: Bools = kinds != CARRIES_IPV4 if field.private else kinds == PUBLIC
    return marks


def _together(truths: Sequence[OwnTruth], field: Field, family: int) -> tuple[Partition, pa.Array]:
    """Return the rows of several truths as one, and their values by row; row 0 states nothing."""
    parts, columns, before = [], [], 0
    for truth in truths:
        part, column = truth.partitions[family], truth.columns[field.path]
        parts.append(Partition(part.starts, _after(part.row, before)))
        columns.append(column.cast(type_of(field)))
        before += len(column)
    values = pa.concat_arrays(columns)
    states = np.asarray(values.is_valid().to_numpy(zero_copy_only=False), bool)
    joined = first_stating(states, parts)
    return joined, values


def _after(rows: I64, count: int) -> I64:
    """Return row numbers after ``count`` others; 0 stays 0."""
    return np.where(rows > 0, rows + count, 0)
