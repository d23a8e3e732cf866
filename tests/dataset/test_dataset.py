"""Damaged datasets: manifests, files of data, and flipped bits."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.errors import BuildError, DatasetError, PathError
from tests.cli.program import run
from tests.damage import ADDRESSES, EXPLAINED, copied, survey, whole
from tests.internals.dataset import layout as fmt
from tests.internals.dataset import read_manifest
from tests.tiers import scaled


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return copied(whole(), tmp_path / "copy")


def stated(dataset: Path) -> Any:
    return json.loads((dataset / fmt.MANIFEST).read_bytes())


def rewrite(dataset: Path, manifest: object) -> None:
    (dataset / fmt.MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")


def test_files_swapped_as_the_manifest_has_it(dataset: Path) -> None:
    assert survey(dataset) == "answered"
    with geolookup.open(dataset) as engine:  # its addresses meet these bytes
        answers = [engine.lookup(ip) for ip in ADDRESSES]
    cities = [answer["data"]["location"]["city_name"] for answer in answers if answer["data"]]
    assert {None, "Mountain View", "Zürich", "Dublin", "Paris", "Lyon"} == set(cities)
    assert {answer["error_code"] for answer in answers} == {None, 10001, 10002}
    for name in ("\U0001f600", "\\ud", "\ud800"):  # JSON can state half of a character
        rewrite(dataset, stated(whole()) | {"name": name})
        if name == "\ud800":
            with pytest.raises(geolookup.DatasetError, match="not a manifest"):
                read_manifest(dataset)
        else:
            assert read_manifest(dataset).metadata().name == name
    for one, other in list(combinations(fmt.FILES, 2))[:: scaled(3, 1)]:
        manifest = stated(whole())
        files = manifest["files"]
        files[one], files[other] = files[other], files[one]
        rewrite(dataset, manifest)
        assert survey(dataset) == "refused", (one, other)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict | list):
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, key))


_GARBAGE: tuple[object, ...] = (
    *(None, True, False, 0, 1, -1, 7, 8, 1 << 31, 1 << 40, -(1 << 70), 0.5, 1e400, float("nan")),
    *("", "x", "1", "\ud800", [], [1], [8, 8], [0, 1 << 70], [[]], {}, {"bytes": 1}, {"type": 1}),
)


def survey_of(dataset: Path, manifest: Any, path: tuple[Any, ...], value: object) -> str:
    """Survey the dataset with another value in a place of its manifest; Ellipsis: none."""
    again = json.loads(json.dumps(manifest))
    node = again
    for key in path[:-1]:
        node = node[key]
    if value is ...:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    rewrite(dataset, again)
    return survey(dataset, EXPLAINED[::2])


def kind(path: tuple[Any, ...]) -> tuple[Any, ...]:
    """A place whatever the file, the column or the position in a list."""
    named = path[0] == "files"
    return tuple(
        "*" if isinstance(key, int) or (named and at in (1, 3)) else key
        for at, key in enumerate(path)
    )


def test_garbage_anywhere_in_the_manifest(dataset: Path) -> None:
    manifest = stated(dataset)
    everywhere = [path for path in places(manifest) if path[0] not in ("sources", "credits")]
    assert len(everywhere) > 300
    by_kind = {kind(path): path for path in everywhere}
    assert 30 < len(by_kind) < 100
    selection, step = list(by_kind.values()), scaled(13, 1)
    if step == 1:
        selection += everywhere[::40]
    refused = Counter[int]()
    for at, path in enumerate(selection):
        for number in range(at % step, len(_GARBAGE), step):
            outcome = survey_of(dataset, manifest, path, _GARBAGE[number])
            refused[number] += outcome == "refused"
    assert all(refused[number] for number in range(len(_GARBAGE)))
    members = [path for path in places(manifest) if isinstance(path[-1], str)]
    assert len(members) > 100
    # A member that is missing; and of a jump table, a power of two of entries, or one of them.
    changes: list[tuple[tuple[Any, ...], object]]
    changes = [(path, ...) for path in (members if step == 1 else by_kind.values())]
    jumps = [path for path in everywhere if "ipv4_jump.arrow" in path]
    changes += [(path, entries) for path in jumps for entries in range(0, 9, scaled(3, 1))]
    assert {survey_of(dataset, manifest, *change) for change in changes} == {"answered", "refused"}


_COMPILED = "x.mmdb", "x.csv.gz", "DB 11.csv", "x.zip", "x.parquet", "ipasn.dat.gz", "x.toml"


def refusal(call: Callable[[Path], object], path: Path) -> PathError:
    path.write_bytes(b"\0")
    with pytest.raises((BuildError, DatasetError)) as caught:
        call(path)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(str(path))
    return caught.value


def pack(path: Path) -> None:
    geolookup.pack(path, path.parent / "out.tar.zst")


def test_what_the_compiler_reads(tmp_path: Path) -> None:
    """It is no dataset where a command changes one."""
    for name in _COMPILED:
        path = tmp_path / name
        words = shlex.split(refusal(pack, path).remedy.partition(": ")[2])
        assert words == ["geolookup", "build", str(path), "--output", name.partition(".")[0]]
    path = tmp_path / _COMPILED[0]
    done = run("mirror", "pack", str(path), "--output", str(tmp_path / "out.tar.zst"))
    assert (done.returncode, done.stdout) == (2, "")
    remedy = f"compile it: geolookup build {shlex.quote(str(path))} --output x"
    assert done.stderr == f"geolookup: {path}: a file of data, not a dataset; {remedy}\n"


def test_what_it_does_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(tmp_path / "cache"))
    for name, instead in (
        ("IP2LOCATION-LITE-DB11.BIN", "CSV"),
        ("ip2region_v4.xdb", "ipv4_source.txt"),
        ("geoip2fast-asn.dat.gz", "CSV or MMDB"),
        ("GeoLiteCity.dat", "GeoLite2"),
    ):
        for call in (geolookup.open, pack):
            remedy = refusal(call, tmp_path / name).remedy
            assert instead in remedy
            assert "geolookup build FILE --output DIR" in remedy
    packed = tmp_path / "mydata.tar.zst"
    words = shlex.split(refusal(pack, packed).remedy.partition("unpack it: ")[2])
    assert words == ["geolookup", "mirror", "unpack", str(packed), "--output", "mydata"]
    (tmp_path / "x.mmdb").mkdir()  # a folder may have any name
    for path in (tmp_path / "x.mmdb", tmp_path / "missing.mmdb"):
        with pytest.raises(DatasetError, match="no dataset here"):
            geolookup.open(path)
