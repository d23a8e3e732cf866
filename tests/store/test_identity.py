"""A generation id is that of the content: what states another one gets in nowhere."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

import geolookup
from geolookup import DatasetError
from geolookup.archives.pack import pack
from geolookup.archives.unpack import unpack
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import canonical
from geolookup.store.generations import generations
from geolookup.store.publish import publish
from tests.cli.program import run
from tests.corrupt.forging import manifest
from tests.damage import copied
from tests.store.numbered import answers, answers_of, id_of, shared


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
    return f"'generation' is {id_of(3)}, but that of the content is {id_of(2)};"


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
    assert publish(shared(2), store, expect=wanted) == wanted
    refused = run("publish", str(shared(1)), str(store), "--expect", wanted)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"its generation is {id_of(1)}, but {wanted} was" in refused.stderr
