"""Changes of a store: what is in it afterwards, what is refused, and which id it must have."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import geolookup
from geolookup import DatasetError, publish
from tests.cli.program import run
from tests.corrupt.forging import manifest
from tests.damage import copied
from tests.internals.archives import pack, unpack
from tests.internals.dataset import canonical
from tests.internals.dataset import layout as fmt
from tests.internals.history import generations, prune, rollback
from tests.store.numbered import answers_of, id_of, shared


def test_a_damaged_dataset_is_refused(tmp_path: Path, store: Path) -> None:
    before, broken = contents(store), copied(shared(2), tmp_path / "broken")
    content = (broken / fmt.NETWORK).read_bytes()
    (broken / fmt.NETWORK).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    for problem in (f"{broken / fmt.NETWORK}: ", f"{broken / fmt.ZONE}: missing"):
        with pytest.raises(DatasetError, match=problem):
            publish(broken, store)
        assert contents(store) == before
        (broken / fmt.NETWORK).write_bytes(content)
        (broken / fmt.ZONE).unlink(missing_ok=True)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def contents(store: Path) -> tuple[bytes, set[str]]:
    return (store / "current").read_bytes(), names(store / "generations")


def test_what_becomes_a_store_and_what_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("Dear", encoding="utf-8")
    (tmp_path / "file").write_text("Dear", encoding="utf-8")
    wrong = {
        tmp_path / "full": "is not empty",
        tmp_path / "file": "not a folder",
        copied(shared(1), tmp_path / "dataset"): "is a dataset",
        tmp_path / "missing" / "store": "no such folder",
    }
    for target_folder, problem in wrong.items():
        with pytest.raises(geolookup.errors.OutputError, match=problem):
            publish(shared(0), target_folder)
    assert names(tmp_path / "full") == {"letter.txt"}
    (tmp_path / "empty").mkdir()
    for change in (rollback, prune, generations):
        with pytest.raises(DatasetError, match="no store here"):
            change(tmp_path / "empty")
        assert names(tmp_path / "empty") == set()
    assert publish(shared(0), tmp_path / "empty").generation == id_of(0)
    assert answers_of(tmp_path / "empty") == answers_of(shared(0))


@pytest.fixture
def claimed(tmp_path: Path) -> Path:
    """The data of number 2, under the id of number 3."""
    dataset = copied(shared(2), tmp_path / "claimed")
    document = manifest(dataset) | {"generation": id_of(3)}
    (dataset / fmt.MANIFEST).write_bytes(canonical(document))
    return dataset


def both_ids() -> str:
    return f"'generation' is {id_of(3)}, but the content gives {id_of(2)};"


def test_a_claimed_id_is_refused(store: Path, claimed: Path, tmp_path: Path) -> None:
    """On every way, also if the store has the true data of that id; both ids are named."""
    pack(claimed, archive := tmp_path / "claimed.tar.zst")
    publish(shared(3), store)
    publish(shared(1), store)
    before = sorted(store.rglob("*"))
    calls: tuple[Callable[[Path], object], ...] = (
        geolookup.verify,
        lambda path: publish(path, store),
        lambda path: unpack(path, tmp_path / "output"),
    )
    for path, ways in ((claimed, calls[:2]), (archive, calls[1:])):
        for call in ways:
            with pytest.raises(DatasetError, match=f"^{path}.*{both_ids()}"):
                call(path)
    assert sorted(store.rglob("*")) == before
    assert not (tmp_path / "output").exists()


def test_expect_admits_one_generation(store: Path) -> None:
    wanted, before = id_of(2), generations(store)
    for expected in (id_of(0), wanted[:12], wanted.upper(), ""):
        shown = expected[:12] if len(expected) == 64 else expected
        told = re.escape(f"its generation is {wanted[:12]}, but {shown} was expected")
        remedy = "fetch the dataset" if len(expected) == 64 else "state all 64 digits"
        with pytest.raises(DatasetError, match=f"{told}; {remedy}"):
            publish(shared(2), store, expect=expected)
        assert generations(store) == before
    assert publish(shared(2), store, expect=wanted).generation == wanted
    refused = run("store", "publish", str(shared(1)), "--store", str(store), "--expect", wanted)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"its generation is {id_of(1)[:12]}, but {wanted[:12]} was" in refused.stderr


def test_what_was_never_published_is_removed(store: Path) -> None:
    with pytest.raises(ValueError, match="keep"):
        prune(store, 0)
    (store / "generations" / id_of(5)).mkdir()
    written_at = (store / "current").stat().st_mtime_ns
    assert prune(store, 9).removed == [id_of(5)]
    # A pointer that is written again would make engines reload.
    assert (store / "current").stat().st_mtime_ns == written_at
