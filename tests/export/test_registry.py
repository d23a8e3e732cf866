"""The registry of formats: each has options of its own, and only those."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup import export
from geolookup.errors import ExportError
from geolookup.export import FORMATS, options_of_formats
from tests.cli.program import refusal, run
from tests.damage import copied
from tests.datasets import SMALL


def test_what_no_format_has_gets_a_hint(sample: geolookup.Engine, tmp_path: Path) -> None:
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("mdb", {}, "no format 'mdb'; did you mean 'mmdb'"),
        ("mmdb", {"shema": "city"}, "mmdb has no option shema; did you mean 'schema'"),
        ("mmdb", {"schema": "cty"}, "no schema 'cty'; did you mean 'city'"),
    ]
    for name, options, problem in cases:
        with pytest.raises(ExportError, match=problem):
            sample.export(tmp_path / "x", name, **options)
        assert list(tmp_path.iterdir()) == []
    names = [option.name for option in options_of_formats()]
    assert len(names) == len(set(names))  # options of one name are the same in every format
    for each in FORMATS.values():
        module = Path(export.__file__).parent / f"{each.module.replace('.', '/')}.py"
        assert module.is_file(), each.name


def test_values_as_python_writes_them(sample: geolookup.Engine, tmp_path: Path) -> None:
    given: dict[str, Any] = {"family": 4, "fields": "network.asn", "within": None, "ranges": "cidr"}
    sample.export(tmp_path / "a.csv", "csv", **given)
    sample.export(tmp_path / "b.csv", "csv", family="4", fields=["network.asn"], ranges="cidr")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    sample.export(tmp_path / "c", "mmdb", fields="network.asn", languages="en", schema=None)
    with pytest.raises(ExportError, match="no family '5'; known are 4, 6"):
        sample.export(tmp_path / "x", "csv", family=5)


def test_an_existing_file_is_kept_without_force(sample: geolookup.Engine, tmp_path: Path) -> None:
    target = tmp_path / "x.mmdb"
    target.write_text("mine")
    with pytest.raises(geolookup.OutputError, match="exists already"):
        sample.export(target, "mmdb")
    assert target.read_text() == "mine"
    assert sample.export(target, "mmdb", force=True)["records"] > 10
    assert [each.name for each in tmp_path.iterdir()] == ["x.mmdb"]


def test_the_command_writes_a_file_and_says_what(tmp_path: Path) -> None:
    target = tmp_path / "a.mmdb"
    done = run("export", str(SMALL), "--format", "mmdb", "--output", str(target))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{target}: {target.stat().st_size:,} bytes, ")
    for options, problem in (
        (("mdb",), "no format 'mdb'; did you mean 'mmdb'"),
        (("mmdb", "--languages", "en,de"), "no names in 'de'"),
        (("mmdb", "--fields", "location.cty_name"), "location.city_name"),
    ):
        refused = ("export", str(SMALL), "--output", str(tmp_path / "x"), "--format", *options)
        assert problem in refusal(*refused)
        assert list(tmp_path.iterdir()) == [target]


@pytest.mark.long
def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, geolookup.cli.export; print('numpy' in sys.modules, 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_a_damaged_dataset_leaves_no_file(tmp_path: Path) -> None:
    copy = copied(SMALL, tmp_path / "copy")
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    begin, size = manifest["files"]["ipv4.arrow"]["columns"]["location"]["buffers"][1]
    whole = bytearray((copy / "ipv4.arrow").read_bytes())
    whole[begin : begin + size] = b"\xff" * size  # rows that the table does not have
    (copy / "ipv4.arrow").write_bytes(whole)
    for name in ("mmdb", "csv"):
        assert refusal("export", str(copy), "--format", name, "--output", str(tmp_path / "x"))
        assert list(tmp_path.iterdir()) == [copy]
