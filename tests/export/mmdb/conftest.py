"""The small dataset as a file of each schema, written once per run."""

from __future__ import annotations

from pathlib import Path

import pytest

import geolookup
from tests.datasets import once
from tests.export.mmdb.answers import SCHEMAS


@pytest.fixture(scope="session")
def files(sample: geolookup.Engine) -> dict[str, Path]:
    """The path of the file of each schema."""

    def file(schema: str) -> Path:
        return once(
            f"export-{schema}.mmdb", lambda path: sample.export(path, "mmdb", schema=schema)
        )

    return {schema: file(schema) for schema in SCHEMAS}
