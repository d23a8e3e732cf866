"""Tables of a dataset that do not fit together raise DatasetError."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import geolookup
from tests.corrupt import forging
from tests.damage import ADDRESSES, copied, whole
from tests.internals.dataset import layout as fmt


def test_a_link_equal_to_the_rows_of_its_table_is_refused(tmp_path: Path) -> None:
    dataset = copied(whole(), tmp_path / "copy")
    rows = forging.table(dataset, fmt.COUNTRY).num_rows
    forging.replaced(dataset, fmt.LOCATION, "country", forging.put(1, rows))
    with pytest.raises(geolookup.DatasetError, match="column country points outside"):
        geolookup.open(dataset).enrich(pa.table({"ip": ADDRESSES}), ["location"])
