"""Damaged datasets: tables hold values or raise DatasetError, in a process that stays alive."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from tests.conftest import ROOT
from tests.corrupt import forging
from tests.damage import ADDRESSES, copied, flipped, refused, whole
from tests.internals.dataset import layout as fmt
from tests.tables import columns
from tests.tiers import scaled

_FILES = (fmt.LOCATION, fmt.COUNTRY, fmt.NETWORK, fmt.ZONE, fmt.IPV4, fmt.IPV6, fmt.MANIFEST)


def survey(dataset: Path) -> str:
    """Return "answered" or "refused"; fail at anything that is neither."""
    table = pa.table({"ip": ADDRESSES, "at": range(len(ADDRESSES))})
    outcome = "answered"
    try:
        engine = geolookup.open(dataset)
    except geolookup.DatasetError as error:
        return refused(error, str(dataset))
    options: Any
    for options in ({"at": 0}, {"time_column": "at"}):
        try:
            result = engine.enrich(table, columns.EVERYTHING[1:], threads=1, **options)
            result.validate(full=True)
            assert len(result.to_pylist()) == len(ADDRESSES)
        except geolookup.DatasetError as error:
            outcome = refused(error, str(dataset))
    return outcome


def flip_and_survey(
    whole: Path, name: str, folder: Path, single: int, several: int
) -> Counter[str]:
    """Flip bits of one file: ``single`` times at one place, ``several`` times at many places."""
    dataset = copied(whole, folder / "copy")
    flips = flipped(dataset / name, [1] * single + [3, 30] * (several // 2))
    outcomes = Counter(survey(dataset) for _ in flips)
    shutil.rmtree(dataset)
    return outcomes


@pytest.mark.long
@pytest.mark.parametrize("kernel", ["", "python"])
def test_flipped_bits(dataset_path: Path, tmp_path: Path, kernel: str) -> None:
    single, several = scaled(8, 80), 20
    arguments = [str(dataset_path), str(tmp_path), str(single), str(several)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.tables.test_damage", *arguments],
        cwd=ROOT,
        env={**os.environ, "GEOLOOKUP_KERNEL": kernel},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [name for name, *_ in lines] == list(_FILES)
    for name, answered, refusals in lines:
        assert int(answered) + int(refusals) == single + several
        assert int(refusals) > 0, name


def test_whole_dataset_answers(dataset_path: Path) -> None:
    assert survey(dataset_path) == "answered"


def test_a_link_equal_to_the_rows_of_its_table_is_refused(tmp_path: Path) -> None:
    dataset = copied(whole(), tmp_path / "copy")
    rows = forging.table(dataset, fmt.COUNTRY).num_rows
    forging.replaced(dataset, fmt.LOCATION, "country", forging.put(1, rows))
    with pytest.raises(geolookup.DatasetError, match="column country points outside"):
        geolookup.open(dataset).enrich(pa.table({"ip": ADDRESSES}), ["location"])


if __name__ == "__main__":
    dataset, work, *amounts = sys.argv[1:]
    for file in _FILES:
        print(file, end=" ", flush=True)  # the file, in case of a crash
        outcomes = flip_and_survey(Path(dataset), file, Path(work), *map(int, amounts))
        print(outcomes["answered"], outcomes["refused"])
