"""What a store, an engine and ``unpack`` accept if they trust keys, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import geolookup
from geolookup import publish
from geolookup.errors import DatasetError, GeoLookupError, KeyFileError
from tests.cli.program import run
from tests.internals.archives import read_head, write_archive
from tests.internals.dataset import manifest_text
from tests.internals.history import from_folder, generations, publish_into, unpacked
from tests.internals.integrity import verify
from tests.internals.signing import (
    SIGNATURE,
    Trust,
    read_public,
    read_signature,
    serial_in,
    signed_statement,
)
from tests.internals.signing import PrivateKey as Key
from tests.internals.store import (
    adopt_signature,
    distrust,
    is_signed_by,
    keys_of,
    latest_serial,
    sign,
    trust,
    trust_of,
)
from tests.signing.keys import Paths, private_keys, public
from tests.skips import needs
from tests.store.numbered import generation

pytestmark = needs("cryptography")


def content(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_ino)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def refused(folder: Path, change: Callable[[], object], match: str) -> None:
    """A refusal is one line, and changes nothing in a folder."""
    before = content(folder)
    with pytest.raises(GeoLookupError, match=match) as caught:
        change()
    assert "\n" not in str(caught.value)
    assert content(folder) == before


def folder_of(store: Path, dataset: Path) -> Path:
    return store / "generations" / generation(dataset)


def ways(dataset: Path, store: Path, folder: Path, key: Key) -> dict[str, Callable[[], object]]:
    """All ways of a dataset to a reader that trusts a key."""
    write_archive(archive := folder / "a.tar.zst", dataset, read_head(dataset))
    return {
        "publish": lambda: publish(dataset, store),
        "publish since": lambda: publish(dataset, store, since="2026-01-01"),
        "publish an archive": lambda: publish(archive, store),
        "unpack": lambda: geolookup.unpack(archive, folder / "out", trusted_keys=[key.public]),
        "verify": lambda: geolookup.verify(dataset, trusted_keys=[key.public]),
        "open": lambda: geolookup.open(dataset, trusted_keys=[key.public]),
    }


@pytest.mark.parametrize("owner", [None, 1])
def test_what_no_trusted_key_signed(
    owner: int | None, store: Path, datasets: Paths, tmp_path: Path, ours: Key
) -> None:
    problem = "not signed by a trusted key"
    if owner is not None:
        sign(datasets[2], private_keys()[owner])
        problem = "signed by no trusted key, but by"
    for way in ways(datasets[2], store, tmp_path, ours).values():
        refused(tmp_path, way, problem)


def test_a_signature_from_elsewhere_must_be_of_a_trusted_key(
    store: Path, datasets: Paths, ours: Key, theirs: Key
) -> None:
    """A mirror offers newer signatures for generations that the store has."""
    first, after = generation(datasets[0]), latest_serial(store)
    forged, genuine = (
        signed_statement(manifest_text(datasets[0]), [key], after) for key in (theirs, ours)
    )
    stored = from_folder(folder_of(store, datasets[0]))
    other = stored.with_signature(forged)
    refused(store, lambda: publish_into(store, other), "signed by no trusted key")
    refused(store, lambda: publish_into(store, stored), "older than an accepted")
    publish_into(store, stored.with_signature(genuine))
    assert generations(store)[0].generation == first
    verify(store)


@pytest.mark.parametrize("damaged", [b"damaged", bytes(1 << 17)])
def test_a_damaged_signature_is_replaced(store: Path, datasets: Paths, damaged: bytes) -> None:
    path = folder_of(store, datasets[1]) / SIGNATURE
    path.unlink()
    path.write_bytes(damaged)
    publish(datasets[1], store)
    assert read_signature(path.parent) == read_signature(datasets[1])
    with pytest.raises(DatasetError, match="signs another"):
        adopt_signature(path.parent, (datasets[0] / SIGNATURE).read_bytes())


def test_the_serial_is_the_time_and_grows_whatever_the_clock_says(
    datasets: Paths, ours: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In microseconds. A damaged dataset is not signed."""
    for now, expected in ((7_999, 7), (1_000, 8)):
        monkeypatch.setattr("time.time_ns", lambda now=now: now)
        sign(datasets[2], ours)
        assert serial_in(datasets[2]) == expected
    (datasets[2] / "zone.arrow").unlink()
    with pytest.raises(DatasetError, match="missing"):
        sign(datasets[2], ours)
    assert serial_in(datasets[2]) == 8


@pytest.mark.long
def test_a_build_is_signed_with_each_key(
    tmp_path: Path, key_files: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that replaces another is newer, whatever the clock says."""
    recipe, output = tmp_path / "recipe.toml", tmp_path / "data"
    recipe.write_text('[dataset]\nname = "geo"\n[[source]]\nformat = "csv"\npath = "a.csv"\n')
    (tmp_path / "a.csv").write_text("network,isp\n8.8.8.0/24,one\n")
    with pytest.raises(KeyFileError):
        geolookup.build(recipe, output, signing_keys=recipe)
    assert not output.exists()
    signing = [part for key in key_files for part in ("--signing-key", str(key))]
    done = run("build", str(recipe), "--output", str(output), *signing)
    assert (done.returncode, done.stderr) == (0, "")
    for key in key_files:
        geolookup.verify(output, trusted_keys=public(key))
    first = serial_in(output)
    monkeypatch.setattr("time.time_ns", lambda: 1)
    geolookup.build(recipe, output, signing_keys=key_files[0], force=True)
    assert serial_in(output) == first + 1
    geolookup.build(recipe, output, force=True)
    assert not (output / SIGNATURE).exists()


def test_keys_are_rotated(store: Path, datasets: Paths, ours: Key, theirs: Key) -> None:
    """The new key beside the old one, signed with both, then without the old one."""
    for _ in range(2):  # once more changes nothing
        trust(store, [theirs.public])
    assert set(keys_of(store).values()) == {ours.public, theirs.public}
    sign(datasets[2], [ours, theirs])
    assert is_signed_by(datasets[2], [ours, theirs])
    assert not is_signed_by(datasets[1], [ours, theirs])
    publish(datasets[2], store)
    before = latest_serial(store)
    distrust(store, ours.public.id)
    # What a removed key signed still says how new the data are.
    assert trust_of(store) == Trust((theirs.public,), "geo", before)
    sign(datasets[0], ours)
    refused(store, lambda: publish(datasets[0], store), "signed by no trusted key")
    refused(store, lambda: distrust(store, ours.public.id), "does not trust the key")
    # Without a key everything is accepted; a signature comes along.
    distrust(store, theirs.public.id)
    assert trust_of(store) is None
    assert not (store / "trusted").exists()
    for dataset in datasets[:2]:
        publish(dataset, store)
        assert read_signature(folder_of(store, dataset)) == read_signature(dataset)


def test_keys_that_no_store_may_trust(store: Path, datasets: Paths) -> None:
    folder = store / "trusted"
    (key,) = folder.iterdir()
    text = key.read_bytes()
    key.write_bytes(b"none")
    refused(store, lambda: publish(datasets[1], store), "not a public key")
    key.unlink()
    refused(store, lambda: publish(datasets[1], store), "no .pem file is in it")
    (folder / "notes").write_bytes(text)
    trust(store, [read_public(folder / "notes")])
    publish(datasets[1], store)


def test_the_past_of_a_trusted_store(
    store: Path, datasets: Paths, ours: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older signature is accepted for the past only; it stays with the generation."""
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(store.with_name("cache")))
    past = datasets[2]
    sign(past, ours)
    sign(store, ours)
    publish(past, store, since="2026-01-01")
    assert not folder_of(store, past).exists()
    assert read_signature(unpacked(store, generation(past))) == read_signature(past)
    assert latest_serial(store) > serial_in(past)
    later = signed_statement(manifest_text(past), [ours], latest_serial(store) + 10**9)
    (past / SIGNATURE).write_bytes(later)
    publish(past, store, since="2026-01-02")
    assert latest_serial(store) == serial_in(past)
