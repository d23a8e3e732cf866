"""``upgrade``: the result has the bytes of a compile; on an error nothing changes."""

from __future__ import annotations

import filecmp
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import canonical
from geolookup.store import pointer
from tests.cli.program import run
from tests.conftest import Build
from tests.corrupt import forging
from tests.damage import CSV, copied
from tests.datasets import SMALL, once
from tests.former_dataset import former
from tests.store.numbered import generation, shared

upgrade = import_module("geolookup.updates.upgrade")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The small dataset of the former version."""
    made = once("updates-former", partial(former, SMALL))
    return shutil.copytree(made, tmp_path / "old")


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def is_compiled(folder: Path, compiled: Path = SMALL) -> bool:
    names = [path.name for path in compiled.iterdir()]
    assert sorted(names) == sorted(path.name for path in folder.iterdir())
    return filecmp.cmpfiles(compiled, folder, names, shallow=False)[0] == names


def test_it_becomes_what_a_compile_writes(old: Path, tmp_path: Path) -> None:
    for call in (geolookup.open, geolookup.verify):
        with pytest.raises(geolookup.DatasetError, match=r"version 1.*geolookup upgrade DIR"):
            call(old)
    before, former_copy = content(old), shutil.copytree(old, tmp_path / "copy")
    generation = geolookup.upgrade(old, output=tmp_path / "new")
    assert content(old) == before
    assert is_compiled(tmp_path / "new")
    assert geolookup.verify(tmp_path / "new", deep=True).generation == generation
    done = run("upgrade", str(old))
    assert (done.returncode, done.stdout) == (0, f"generation {generation}\n")
    assert is_compiled(old)
    assert geolookup.upgrade(old) == generation  # nothing is left to do
    done = run("upgrade", str(old))
    assert done.stdout == f"generation {generation} is of the current version already\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "new", "old"]
    output = shutil.copytree(old, tmp_path / "output")  # replaced only by force
    with pytest.raises(geolookup.OutputError, match="exists already"):
        geolookup.upgrade(former_copy, output=output)
    geolookup.upgrade(former_copy, output=output, force=True)
    assert is_compiled(output)
    with pytest.raises(geolookup.DatasetError, match=f"format version {fmt.FORMAT_VERSION}"):
        geolookup.upgrade(output, output=tmp_path / "other")
    done = run("upgrade", str(tmp_path / "nothing"))
    assert (done.returncode, done.stdout) == (2, "")
    assert "no dataset here" in done.stderr


def test_source_rows_are_kept(build: Build, tmp_path: Path) -> None:
    recipe = '[dataset]\nname = "x"\nexplain = "full"\n'
    recipe += "".join(f'[[source]]\nformat = "csv"\npath = "{name}.csv"\n' for name in "abc")
    nested = "network,isp\n\n8.0.0.0/8,é\n8.8.8.0/24,é\n::ffff:9.9.9.0/120,b\n2a00:1::/64,\n"
    files = {"a.csv": nested, "b.csv": "network,isp\n10.0.0.0/8,private\n", "c.csv": CSV}
    compiled, _ = build({**files}, recipe)
    geolookup.upgrade(former(compiled, tmp_path / "old"))
    assert is_compiled(tmp_path / "old", compiled)


#: File, column, another value of a row, and what is said of it.
DAMAGED_ROWS = [
    (fmt.EXPLAINED[4], "row", 10**6, "its source rows are damaged"),
    (fmt.EXPLAINED[4], "table", 9, "its source rows are damaged"),
    (fmt.FORMER_ROWS, "isp", 10**6, "its source rows are damaged"),
    (fmt.FORMER_ROWS, "file", 7, "outside explained_files"),
    (fmt.FORMER_ROWS, "family", 5, "neither 4 nor 6"),
]


def test_damaged_source_rows(build: Build, tmp_path: Path) -> None:
    recipe = '[dataset]\nname = "x"\nexplain = "full"\n[[source]]\nformat = "csv"\npath = "a.csv"\n'
    compiled, _ = build({"a.csv": "network,isp\n8.0.0.0/8,a\n8.8.8.0/24,b\n"}, recipe)
    made = former(compiled, tmp_path / "made")
    for name, column, value, said in DAMAGED_ROWS:
        old = copied(made, tmp_path / "old")
        forging.replaced(old, name, column, put(1, value))
        before = content(old)
        with pytest.raises(geolookup.DatasetError, match=said):
            geolookup.upgrade(old)
        assert content(old) == before, (name, column)


def test_only_what_a_store_published_never_changes(old: Path, tmp_path: Path) -> None:
    store_of(old, tmp_path / "store")
    for folder in (tmp_path / "generations", tmp_path / "store" / "mine"):
        place = shutil.copytree(old, folder / "data")
        geolookup.upgrade(place)
        assert is_compiled(place)


def store_of(old: Path, store: Path) -> str:
    """Make a store as the former version published it; return its generation."""
    generation: str = forging.manifest(old)["generation"]
    geolookup.publish(SMALL, store)
    (current,) = (store / "generations").iterdir()
    shutil.rmtree(current)
    shutil.copytree(old, store / "generations" / generation)
    named = store / pointer.CURRENT
    named.write_text(named.read_text("utf-8").replace(current.name, generation), encoding="utf-8")
    return generation


def test_a_store_gets_the_upgraded_generation(old: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    before = store_of(old, store)
    with pytest.raises(geolookup.DatasetError, match="geolookup upgrade DIR"):
        geolookup.open(store)
    with pytest.raises(geolookup.DatasetError, match=f"run 'geolookup upgrade {store}'"):
        geolookup.upgrade(store / "generations" / before)
    after = geolookup.upgrade(store)
    listed = [(each.generation, each.current) for each in geolookup.generations(store)]
    assert listed == [(after, True), (before, False)]
    assert is_compiled(store / "generations" / after)
    assert content(store / "generations" / before) == content(old)
    assert geolookup.upgrade(store) == after
    assert not (store / ".update").exists()


def test_a_generation_that_is_published_meanwhile_stays_current(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = shared(0)

    def after_another(*args: Any) -> Any:
        geolookup.publish(other, tmp_path / "store")
        return upgrading(*args)

    for name in ("updating", "_written"):
        store_of(old, tmp_path / "store")
        upgrading = getattr(upgrade, name)
        with monkeypatch.context() as patched:
            patched.setattr(upgrade, name, after_another)
            with suppress(geolookup.DatasetError):
                geolookup.upgrade(tmp_path / "store")
        assert geolookup.generations(tmp_path / "store")[0].generation == generation(other)
        shutil.rmtree(tmp_path / "store")


Damage = Callable[[Path], object]


def flipped(folder: Path) -> None:
    data = bytearray((folder / fmt.LOCATION).read_bytes())
    data[len(data) // 2] ^= 1
    (folder / fmt.LOCATION).write_bytes(data)


def put(row: int, value: object) -> forging.Change:
    return lambda values: values.__setitem__(row, value)


def column(name: str, replaced: str, kind: pa.DataType | None, value: object = None) -> Damage:
    """Give a column another type, all with a value, or remove it; digests and checksums fit."""

    def change(folder: Path) -> None:
        table = forging.table(folder, name)
        at = table.schema.get_field_index(replaced)
        other = table.remove_column(at)
        if kind is not None:
            other = table.set_column(at, replaced, pa.array([value] * len(table), kind))
        forging.write(folder, name, other)

    return change


def no_rows(name: str) -> Damage:
    return lambda folder: forging.write(folder, name, forging.table(folder, name).slice(0, 0))


def stated(**members: object) -> Damage:
    return lambda folder: (folder / fmt.MANIFEST).write_bytes(
        canonical(forging.manifest(folder) | members)
    )


def longer_word(folder: Path) -> None:
    """Give locations a word that their texts do not have: decoded, it may be many gigabytes."""

    def change(values: list[str | None]) -> None:
        word = next(each for each in values if each)
        values[:] = ["x" * 10_000 if each == word else each for each in values]

    forging.replaced(folder, fmt.LOCATION, "city_name", change)


DAMAGES: list[tuple[Damage, str]] = [
    (column(fmt.LOCATION, "json", None), "its columns are"),
    (column(fmt.NETWORK, "json", pa.int32()), "of type int32, not string"),
    (column(fmt.COUNTRY, "json", pa.string()), "values are null"),
    (column(fmt.NETWORK, "json_crc32", pa.string()), "of type string, not uint32"),
    (column(fmt.IPV4, "start", pa.string()), "of type string, not uint32"),
    (no_rows(fmt.NETWORK), "no rows"),
    (no_rows(fmt.IPV4_JUMP), "no rows"),
    (longer_word, "differs from the other columns"),
    (flipped, "its digest differs from the manifest"),
    (
        lambda folder: forging.replaced(folder, fmt.LOCATION, "json_crc32", put(2, 1)),
        "row 2: not the checksum of the row's text",
    ),
    (column(fmt.ZONE, "zone", pa.string(), ""), "not unknown"),
    (stated(name="other"), "'generation' is"),
    (stated(format_version=3), "format version 3"),
    (lambda folder: (folder / fmt.IPV4).unlink(), "missing"),
    (lambda folder: (folder / fmt.MANIFEST).write_text("{}", encoding="utf-8"), "not the manifest"),
]


def test_a_damaged_dataset_stays_as_it_is(old: Path, tmp_path: Path) -> None:
    for damage, problem in DAMAGES:
        damaged = copied(old, tmp_path / "damaged")
        damage(damaged)
        before = content(damaged)
        with pytest.raises(geolookup.DatasetError, match=problem):
            geolookup.upgrade(damaged)
        assert content(damaged) == before, problem
        assert sorted(path.name for path in tmp_path.iterdir()) == ["damaged", "old"]
