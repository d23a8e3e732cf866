"""Changes of a store: what is in it afterwards, what is refused, and which id it must have."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup import DatasetError, publish
from tests.cli.program import run
from tests.corrupt.forging import manifest
from tests.damage import copied
from tests.history.past import past_store
from tests.internals.archives import pack, unpack
from tests.internals.dataset import canonical
from tests.internals.dataset import layout as fmt
from tests.internals.history import generations, prune, rollback
from tests.store.numbered import answers, answers_of, id_of, shared


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_new_store_answers_from_what_was_published(tmp_path: Path) -> None:
    """An empty folder becomes one too; metadata travel with the data."""
    (tmp_path / "empty").mkdir()
    before = datetime.now(UTC).replace(microsecond=0)
    for store in (tmp_path / "store", tmp_path / "empty"):
        assert publish(shared(0), store).generation == id_of(0)
        with geolookup.open(store) as engine, geolookup.open(shared(0)) as published:
            assert answers(engine) == answers_of(shared(0))
            assert engine.generation == engine.metadata.generation == id_of(0)
            assert engine.path == store / "generations" / id_of(0)
            assert engine.metadata == published.metadata
        (listed,) = generations(store)
        assert before <= datetime.fromisoformat(listed.at) <= datetime.now(UTC)
        assert (listed.current, listed.withdrawn) == (True, False)


def test_a_damaged_dataset_is_refused(tmp_path: Path, store: Path) -> None:
    before, broken = (store / "current").read_bytes(), copied(shared(2), tmp_path / "broken")
    for name in (*fmt.FILES, fmt.MANIFEST):
        content = (broken / name).read_bytes()
        data = bytearray(content)
        data[len(data) // 2] ^= 1
        (broken / name).write_bytes(data)
        with pytest.raises(geolookup.DatasetError) as caught:
            publish(broken, store)
        assert str(broken) in str(caught.value), name
        assert (store / "current").read_bytes() == before
        assert names(store / "generations") == {id_of(index) for index in range(2)}
        (broken / name).write_bytes(content)
    (broken / fmt.ZONE).unlink()
    with pytest.raises(geolookup.DatasetError, match=r"zone\.arrow: missing"):
        publish(broken, store)


def test_what_is_no_store_is_left_alone(tmp_path: Path) -> None:
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
        with pytest.raises(geolookup.OutputError, match=problem):
            publish(shared(0), target_folder)
    assert names(tmp_path / "full") == {"letter.txt"}


def state(dataset: Path, stated: object) -> None:
    document = manifest(dataset)
    document["generation"] = stated
    (dataset / fmt.MANIFEST).write_bytes(canonical(document))


@pytest.fixture
def claimed(tmp_path: Path) -> Path:
    """The data of number 2, under the id of number 3."""
    dataset = copied(shared(2), tmp_path / "claimed")
    state(dataset, id_of(3))
    return dataset


def both_ids() -> str:
    return f"'generation' is {id_of(3)}, but the content gives {id_of(2)};"


def test_publish_refuses_it(store: Path, claimed: Path) -> None:
    """Also where the true data of that id are in the store; ``verify`` names both ids."""
    for _ in range(2):
        before = generations(store)
        for call in (geolookup.verify, lambda path: publish(path, store)):
            with pytest.raises(DatasetError, match=both_ids()) as raised:
                call(claimed)
            assert str(claimed) in str(raised.value)
        assert generations(store) == before
        publish(shared(3), store)
        publish(shared(1), store)


def test_unpack_refuses_it(tmp_path: Path, claimed: Path) -> None:
    archive, output = tmp_path / "claimed.tar.zst", tmp_path / "output"
    pack(claimed, archive)
    with pytest.raises(DatasetError, match=both_ids()) as raised:
        unpack(archive, output)
    assert f"{archive}!{fmt.MANIFEST}: " in str(raised.value)
    assert not output.exists()


def test_a_store_does_not_answer_from_it(store: Path, claimed: Path) -> None:
    """Put into the folder of a generation by hand, it is not opened, nor installed."""
    publish(shared(3), store)
    with geolookup.open(store) as engine:
        folder = store / "generations" / id_of(3)
        shutil.rmtree(folder)
        shutil.copytree(shared(2), folder)
        with pytest.raises(DatasetError, match=r"its generation is .*, but .* was published"):
            geolookup.open(store)
        assert answers(engine) == answers_of(shared(3))


def test_what_is_no_id_is_neither_opened_nor_published(tmp_path: Path) -> None:
    """It would be a folder's name, and a header of an answer over HTTP."""
    dataset = copied(shared(0), tmp_path / "copy")
    digits = ("A" * 64, "0" * 63, "0" * 65, "0" * 63 + "\n", "." * 64)
    for stated in ("", "x", *digits, 7, None, ["0"], "../../outside"):
        state(dataset, stated)
        for call in (geolookup.open, lambda path: publish(path, tmp_path / "store")):
            with pytest.raises(DatasetError, match="not a generation id"):
                call(dataset)
        assert [path.name for path in tmp_path.iterdir()] == ["copy"], stated


def test_expect_admits_one_generation(store: Path) -> None:
    wanted, before = id_of(2), generations(store)
    for expected in (id_of(0), wanted[:12], wanted.upper(), ""):
        told = re.escape(f"its generation is {wanted}, but {expected} was expected")
        remedy = "fetch the dataset" if len(expected) == 64 else "state all 64 digits"
        with pytest.raises(DatasetError, match=f"{told}; {remedy}"):
            publish(shared(2), store, expect=expected)
        assert generations(store) == before
    assert publish(shared(2), store, expect=wanted).generation == wanted
    refused = run("publish", str(shared(1)), "--store", str(store), "--expect", wanted)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"its generation is {id_of(1)}, but {wanted} was" in refused.stderr


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({}, (0, 1, 2, 3, 4, 5)),
        ({"keep": 3}, (3, 4, 5)),
        ({"keep_for": "1h"}, (4, 5)),  # both were in force in this hour
        ({"since": "2026-04-15"}, (0, 1, 2, 3, 5, 4)),
        ({"since": "2026-04-15", "keep": 3}, (3, 5, 4)),
    ],
)
def test_publish_prunes_if_keep_or_keep_for_is_given(
    options: dict[str, Any], kept: tuple[int, ...], tmp_path: Path
) -> None:
    store = past_store(tmp_path / "store")
    publish(shared(5), store, **options)
    assert [item.generation for item in reversed(generations(store))] == [*map(id_of, kept)]


def test_rollback_refuses_a_damaged_generation(store: Path) -> None:
    (store / "generations" / id_of(0) / "zone.arrow").unlink()
    with pytest.raises(geolookup.DatasetError, match=r"zone.arrow"):
        rollback(store)
    assert answers_of(store) == answers_of(shared(1))


def test_changes_that_cannot_be(store: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="keep"):
        prune(store, 0)
    (store / "generations" / id_of(5)).mkdir()  # never came to be published
    written_at = (store / "current").stat().st_mtime_ns
    assert prune(store, 9).removed == [id_of(5)]
    # A pointer that is written again would make engines reload.
    assert (store / "current").stat().st_mtime_ns == written_at
    (tmp_path / "empty").mkdir()
    changes: tuple[Callable[[Path], object], ...] = (rollback, prune, generations)
    for change in changes:
        with pytest.raises(geolookup.DatasetError, match="no store here"):
            change(tmp_path / "empty")
        assert list((tmp_path / "empty").iterdir()) == []
