"""A file opened as a dataset: compiled or unpacked into the cache once, and after a change."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import BuildError, DatasetError
from tests.cli.program import run
from tests.compiled.conftest import SITES
from tests.damage import TAMPERING, copied
from tests.signing import keys
from tests.skips import needs
from tests.store.numbered import id_of, shared

OTHER = SITES.replace("Site", "Other")


def city(path: Path, **options: object) -> object:
    with geolookup.open(path, **options) as engine:  # type: ignore[arg-type]
        return engine.get("8.8.8.8", "city")


def entries(cache: Path) -> list[str]:
    return [path.name.partition("-")[0] for path in sorted(cache.glob("datasets/[!.]*"))]


def test_data_are_compiled_once_and_after_a_change(
    sites: Path, cache: Path, compilations: list[Path]
) -> None:
    """Also if the result is damaged. Bad data keep the dataset in use."""
    assert city(sites) == city(sites) == "Site"
    assert (len(compilations), entries(cache)) == (1, ["file"])
    with geolookup.open(sites) as engine:
        assert engine.metadata.name == "sites"
        assert not engine.reload()
        pickled = pickle.dumps(engine)
        sites.write_text(OTHER, encoding="utf-8")
        assert engine.reload()
        assert engine.get("8.8.8.8", "city") == "Other"
        sites.write_text("network,plan\n8.8.8.8,x\n", encoding="utf-8")
        with pytest.raises(BuildError, match=r"sites\.csv.*plan"):
            engine.reload()
        assert engine.get("8.8.8.8", "city") == "Other"
        shutil.rmtree(engine.path)
    sites.write_text(OTHER, encoding="utf-8")
    assert city(sites) == "Other"
    with pickle.loads(pickled) as former:  # noqa: S301 - ours
        assert former.get("8.8.8.8", "city") == "Site"


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_change_of_equal_size_and_time_is_noticed(sites: Path, is_replaced: bool) -> None:
    """As `rsync -t` and `cp -p` leave it: written in place, or by a rename."""
    before, other = sites.stat(), OTHER.replace("Other", "Town")
    with geolookup.open(sites) as engine:
        target = sites.with_suffix(".new") if is_replaced else sites
        target.write_text(other, encoding="utf-8")
        os.utime(target, ns=(before.st_atime_ns, before.st_mtime_ns))
        target.rename(sites)
        assert sites.stat().st_size == before.st_size
        assert engine.reload()
        assert city(sites) == engine.get("8.8.8.8", "city") == "Town"


def test_an_archive_of_equal_size_and_time_is_unpacked_again(tmp_path: Path, sites: Path) -> None:
    archive, other = tmp_path / "a.tar.zst", tmp_path / "b.tar.zst"
    geolookup.build(sites, tmp_path / "a")
    geolookup.pack(tmp_path / "a", archive)
    size = archive.stat().st_size
    for number in range(1000):  # until the compressed size is the same
        sites.write_text(SITES.replace("Site", f"S{number:03}"), encoding="utf-8")
        geolookup.build(sites, tmp_path / "b", force=True)
        geolookup.pack(tmp_path / "b", other, force=True)
        if other.stat().st_size == size:
            break
    os.utime(archive, ns=(0, 0))
    os.utime(other, ns=(0, 0))
    assert city(archive) == "Site"
    other.replace(archive)
    assert city(archive) == f"S{number:03}"


def test_a_recipe_and_an_overlay_over_a_file(tmp_path: Path, sites: Path, cache: Path) -> None:
    recipe, below = tmp_path / "both.toml", tmp_path / "below.csv"
    below.write_text("network,city_name,country_code\n8.8.8.0/24,Below,US\n", encoding="utf-8")
    recipe.write_text(
        '[dataset]\nname = "both"\n[[source]]\nformat = "csv"\npath = "sites.csv"\n'
        '[[source]]\nformat = "csv"\npath = "below.csv"\n',
        encoding="utf-8",
    )
    for options in ({"path": recipe}, {"path": below, "overlay": sites}):
        with geolookup.open(**options) as engine:  # type: ignore[arg-type]
            assert engine.get_many(["8.8.8.8", "8.8.8.9"], "city") == ["Site", "Below"]
            below.write_text(below.read_text("utf-8").replace("Below", "Lower"), "utf-8")
            assert engine.reload()
            assert engine.get("8.8.8.9", "city") == "Lower"
        below.write_text(below.read_text("utf-8").replace("Lower", "Below"), "utf-8")
    assert {*entries(cache)} == {"file", "overlay"}


def test_an_overlay_takes_the_names_of_numbers_from_its_base(tmp_path: Path) -> None:
    base, own = tmp_path / "base.csv", tmp_path / "own.csv"
    base.write_text("network,asn,asn_organization\n8.8.8.0/24,15169,GOOGLE\n", encoding="utf-8")
    own.write_text("network,asn\n9.9.9.9,15169\n9.9.9.8,1\n", encoding="utf-8")
    with geolookup.open(base, overlay=own) as engine:
        names = engine.get_many(["9.9.9.9", "9.9.9.8", "8.8.8.8"], "asn_organization")
        assert names == ["GOOGLE", None, "GOOGLE"]


def test_commands_answer_from_a_file(sites: Path) -> None:
    done = run("lookup", "8.8.8.8", "-d", str(sites), "-f", "city")
    assert (done.returncode, '"city_name":"Site"' in done.stdout) == (0, True)
    assert "sites.csv" in run("info", str(sites)).stdout


@needs("cryptography")
def test_rows_and_values_that_a_file_loses_are_logged_once(
    sites: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Below the limits of a build; each line names the file."""
    rows = "".join(f"20.{n}.0.0/16,{'ZZ' if n == 7 else 'DE'}\n" for n in range(150))
    sites.write_text(f"network,country_code\n{rows}nowhere,DE\n", encoding="utf-8")
    for _ in range(2):
        geolookup.open(sites).close()
    assert [record.getMessage() for record in caplog.records] == [
        "sites.csv: rejected 1 row without a valid range (1 not an address)",
        "sites.csv: nulled 1 invalid value (1 country_code)",
    ]


def test_an_archive_is_unpacked_once(tmp_path: Path, cache: Path) -> None:
    """With trusted keys, what answers is what was signed."""
    ours, theirs = keys.private_keys()[:2]
    archive, signed = tmp_path / "a.tar.zst", copied(shared(1), tmp_path / "signed")
    geolookup.pack(shared(0), archive)
    with geolookup.open(archive) as engine:
        assert (engine.get("9.9.9.9", "city"), engine.generation) == ("Town 0", id_of(0))
        pickled = pickle.dumps(engine)
        with pytest.raises(DatasetError, match=r"a\.tar\.zst.*not signed"):
            geolookup.open(archive, trusted_keys=ours.public)
        geolookup.sign(signed, ours)
        geolookup.pack(signed, archive, force=True)
        assert engine.reload()
        assert engine.generation == id_of(1)
    with pytest.raises(DatasetError, match="pickle again"):
        pickle.loads(pickled)  # noqa: S301 - ours
    assert entries(cache) == ["archive", "archive"]
    newest = max(cache.glob("datasets/archive-*"), key=lambda path: path.stat().st_mtime_ns)
    for tamper in TAMPERING:
        tamper(newest, shared(3))
        with geolookup.open(archive, trusted_keys=ours.public) as engine:
            assert engine.get("9.9.9.9", "city") == "Town 1"
    with pytest.raises(DatasetError, match="signed by no trusted key"):
        geolookup.open(archive, trusted_keys=theirs.public)


@needs("cryptography")
def test_refusals_are_one_line(
    tmp_path: Path, sites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, empty = tmp_path / "notes.txt", tmp_path / "empty.csv"
    text.write_text("Dear diary\n", encoding="utf-8")
    empty.touch()
    key = keys.private_keys()[0].public
    for path, options, problem in (
        (text, {}, r"notes\.txt"),
        (empty, {}, r"empty\.csv"),
        (sites, {"trusted_keys": key}, r"sites\.csv: not signed"),
        (sites, {"as_of": "2026-01-01"}, r"sites\.csv.*store"),
        (tmp_path / "none.csv", {}, r"none\.csv: no dataset here"),
    ):
        with pytest.raises((BuildError, DatasetError), match=problem) as caught:
            city(path, **options)
        assert "\n" not in str(caught.value)
    done = run("lookup", "8.8.8.8", "-d", str(text))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    for name in [name for name in sys.modules if name.partition(".")[0] == "geolookup_builder"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "geolookup_builder", None)
    with pytest.raises(BuildError, match="but geolookup_builder is not installed; install it"):
        geolookup.open(sites)
