"""A store with trusted keys follows a signed mirror, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("cryptography")

from geolookup import DatasetError
from geolookup.mirrors.index import INDEX, written
from geolookup.mirrors.write import mirror
from geolookup.signing.keys import generate, read_private, read_public
from geolookup.signing.statement import serial_in
from geolookup.store.generations import generations, rollback
from geolookup.store.publish import publish
from geolookup.store.sign import sign
from geolookup.store.signatures import latest_serial
from geolookup.store.trusted import distrust, trust
from tests.cli.program import run
from tests.mirrors.following import Edge, content_of, edge_of
from tests.store.numbered import generation

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The files of two private keys; those of the public keys are beside them."""
    files = [tmp_path_factory.mktemp("keys") / str(number) for number in range(2)]
    for each in files:
        generate(each)
    return files


def public(key: Path) -> Path:
    return key.with_name(f"{key.name}.pub")


def publish_signed(edge: Edge, number: int, key: Path) -> str:
    """Publish a dataset at the origin, sign it, and mirror it."""
    publish(edge.datasets[number], edge.origin, copy=True)
    sign(edge.origin, key)
    mirror(edge.origin, edge.folder, sign=key)
    return generation(edge.datasets[number])


@pytest.fixture
def signed(tmp_path: Path, datasets: list[Path], keys: list[Path]) -> Iterator[Edge]:
    """An edge that trusts the first key, and has followed number 0 and 1."""
    with edge_of(tmp_path, datasets) as edge:
        trust(edge.store, [read_public(public(keys[0]))])
        for number in (0, 1):
            publish_signed(edge, number, keys[0])
            edge.poll()
        yield edge


def assert_refused(edge: Edge, match: str) -> None:
    before = content_of(edge.store)
    with pytest.raises(DatasetError, match=match):
        edge.poll()
    assert content_of(edge.store) == before
    assert edge.current == generation(edge.datasets[1])


def test_what_is_signed_is_followed(signed: Edge, keys: list[Path]) -> None:
    wanted = publish_signed(signed, 2, keys[0])
    assert signed.poll().state == "updated"
    assert signed.current == wanted
    assert serial_in(signed.store / "generations" / wanted) > 0


def test_an_index_without_a_trusted_signature_is_refused(signed: Edge, keys: list[Path]) -> None:
    publish_signed(signed, 2, keys[0])
    index = replace(signed.index(), serial=signed.index().serial + 1)
    signed.forge(index)
    assert_refused(signed, "not signed")
    (signed.folder / INDEX).write_bytes(written(index, [read_private(keys[1])]))
    assert_refused(signed, "signed by no trusted key")


def test_an_index_that_was_signed_before_is_refused(signed: Edge, keys: list[Path]) -> None:
    old = (signed.folder / INDEX).read_bytes()
    wanted = publish_signed(signed, 2, keys[0])
    signed.poll()
    (signed.folder / INDEX).write_bytes(old)
    for remembered in (True, False):
        if not remembered:
            (signed.store / "follow.json").unlink()
        with pytest.raises(DatasetError, match="older than what was accepted"):
            signed.poll()
        assert signed.current == wanted


def test_a_signed_rollback_brings_the_newer_signature(signed: Edge, keys: list[Path]) -> None:
    before = generation(signed.datasets[1])
    bad = publish_signed(signed, 2, keys[0])
    signed.poll()
    serial = latest_serial(signed.store)
    rollback(signed.origin, sign=keys[0])
    mirror(signed.origin, signed.folder, sign=keys[0])
    polled = signed.poll()
    assert (polled.state, polled.kind, polled.generation) == ("updated", "stored", before)
    assert signed.current == before
    assert serial_in(signed.store / "generations" / before) > serial
    assert [each.generation for each in generations(signed.store) if each.withdrawn] == [bad]


def test_keys_are_rotated(signed: Edge, keys: list[Path]) -> None:
    trust(signed.store, [read_public(public(keys[1]))])
    publish(signed.datasets[2], signed.origin, copy=True)
    sign(signed.origin, keys)
    mirror(signed.origin, signed.folder, sign=keys)
    signed.poll()
    distrust(signed.store, read_public(public(keys[0])).id)
    wanted = publish_signed(signed, 3, keys[1])
    assert signed.poll().state == "updated"
    assert signed.current == wanted


def test_the_first_start_trusts_a_key_the_next_one_brings_none_back(
    tmp_path: Path, datasets: list[Path], keys: list[Path]
) -> None:
    with edge_of(tmp_path, datasets) as edge:
        wanted = publish_signed(edge, 0, keys[0])
        options = ("follow", edge.site.url, "--store", str(edge.store), "--once")
        done = run(*options, "--trust", str(public(keys[0])))
        assert done.returncode == 0, done.stderr
        assert edge.current == wanted
        assert run(*options, "--trust", str(public(keys[0]))).returncode == 0
        done = run(*options, "--trust", str(public(keys[1])))
        assert done.returncode == 2
        assert "trusts other keys" in done.stderr
        assert run(*options, "--trust", str(keys[0])).returncode == 2
        assert run(*options, "--trust", "/nowhere").stderr.count("\n") == 1
