"""A dataset to export whose texts are hostile, and files that are written once per run."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import geolookup
from tests.conftest import build_at
from tests.datasets import once
from tests.export.reading import SCHEMAS

#: Texts that end a cell, a line, a text of SQL or a list somewhere, or that a spreadsheet computes.
HOSTILE = (
    *('a "b"\', c', "line\nfeed\r\nand\ttab", "back\\slash \\N \\. \\t", "=1+1"),
    *("@x'); drop table geolookup; --", "\\", '"', "{}[\u2028]", "ñ😀"),
)
_RECIPE = """
[dataset]
name = "hostile"
[columns]
site = { type = "text", private = true }
risk = "integer"
share = "real"
flag = "boolean"
tags = { type = "texts", private = true }
[[source]]
format = "csv"
path = "a.csv"
"""
_HEADER = (
    *("network", "country_code", "city_name", "latitude", "longitude", "asn", "isp"),
    *("own.site", "own.risk", "own.share", "own.flag", "own.tags"),
)


@pytest.fixture(scope="session")
def hostile() -> Generator[geolookup.Engine, None, None]:
    """Hostile texts in public space and in private space, in fields and in own columns."""
    with geolookup.open(once("export-hostile", _build_hostile)) as engine:
        yield engine


def _build_hostile(output: Path) -> None:
    rows: list[tuple[object, ...]] = [_HEADER]
    for at, text in enumerate(HOSTILE):
        tags, empty = json.dumps([text, "x"]), [""] * 5
        rows.append((f"8.{at}.0.0/16", "DE", text, 1.5, -0.25, "", text, *empty))
        rows.append((f"2a00:{at}::/33", *empty[:4], at + 1, text, "", "", -1e-7, "false", tags))
        rows.append((f"10.{at}.0.0/16", *empty, "", text, "", "", "", tags))
    rows.append(("9.9.9.0/24", *empty, "", "", -(2**63), "", "true", ""))
    rows.append(("fd00::/8", *empty, "", "ULA", "", "", "", ""))
    rows.append(("2a01::/16", *empty, "", "", 2**63 - 1, "", "", ""))
    text_file = io.StringIO()
    csv.writer(text_file).writerows(rows)
    with TemporaryDirectory() as folder:
        path, _ = build_at(Path(folder), {"a.csv": text_file.getvalue()}, _RECIPE)
        shutil.move(path, output)


@pytest.fixture(scope="session")
def files(sample: geolookup.Engine) -> dict[str, Path]:
    """The small dataset as an MMDB file of each schema, written once per run."""

    def file(schema: str) -> Path:
        def write(path: Path) -> None:
            sample.export(path, "mmdb", schema=schema)

        return once(f"export-{schema}.mmdb", write)

    return {schema: file(schema) for schema in SCHEMAS}
