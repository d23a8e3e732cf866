"""A file of data where a dataset is expected: one line says how to compile it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import DatasetError
from tests.cli.program import run

_COMPILED = "x.mmdb", "x.csv.gz", "DB 11.csv", "x.zip", "x.parquet", "ipasn.dat.gz", "x.toml"


def refusal(path: Path) -> DatasetError:
    path.write_bytes(b"\0")
    with pytest.raises(DatasetError) as caught:
        geolookup.open(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))
    return caught.value


def test_what_the_compiler_reads(tmp_path: Path) -> None:
    for name in _COMPILED:
        path = tmp_path / name
        words = shlex.split(refusal(path).remedy.partition(": ")[2])
        assert words == ["geolookup", "build", str(path), "--output", name.partition(".")[0]]
    path = tmp_path / _COMPILED[0]
    done = run("lookup", "--dataset", str(path), "8.8.8.8")
    assert (done.returncode, done.stdout) == (2, "")
    remedy = f"compile it: geolookup build {shlex.quote(str(path))} --output x"
    assert done.stderr == f"geolookup: {path}: a file of data, not a dataset; {remedy}\n"


def test_what_it_does_not_read(tmp_path: Path) -> None:
    for name, instead in (
        ("IP2LOCATION-LITE-DB11.BIN", "CSV"),
        ("ip2region_v4.xdb", "ipv4_source.txt"),
        ("geoip2fast-asn.dat.gz", "CSV or MMDB"),
        ("GeoLiteCity.dat", "GeoLite2"),
    ):
        remedy = refusal(tmp_path / name).remedy
        assert instead in remedy
        assert "geolookup build FILE --output DIR" in remedy
    pack = tmp_path / "mydata.tar.zst"
    words = shlex.split(refusal(pack).remedy.partition("unpack it: ")[2])
    assert words == ["geolookup", "unpack", str(pack), "mydata"]
    (tmp_path / "x.mmdb").mkdir()  # a folder may have any name
    for path in (tmp_path / "x.mmdb", tmp_path / "missing.mmdb"):
        with pytest.raises(DatasetError, match="no dataset here"):
            geolookup.open(path)
