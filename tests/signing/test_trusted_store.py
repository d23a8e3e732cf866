"""A store that trusts keys: what it takes, and what it refuses without a change."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from geolookup import publish
from geolookup.errors import DatasetError, GeoLookupError
from geolookup.history.generations import generations, make_current, rollback
from geolookup.history.unpacked import unpacked
from geolookup.integrity import verify
from geolookup.signing.keys import PrivateKey as Key
from geolookup.signing.keys import read_public
from geolookup.signing.statement import (
    LARGEST_SIGNATURE,
    SIGNATURE,
    read_signature,
    serial_in,
    serial_of,
    signed_statement,
)
from geolookup.store import pointer
from geolookup.store.signatures import adopt_signature, is_signed_by, manifest_text, sign
from geolookup.store.trusted import distrust, keys_of, latest_serial, trust, trust_of
from tests.signing.keys import Paths
from tests.skips import needs
from tests.store.numbered import generation, named

pytestmark = needs("cryptography")


def content(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {
        path.relative_to(folder).as_posix(): (path.read_bytes(), path.stat().st_ino)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def refused(store: Path, change: Callable[[], object], match: str) -> None:
    before = content(store)
    with pytest.raises(GeoLookupError, match=match) as caught:
        change()
    assert "\n" not in str(caught.value)
    assert content(store) == before


def folder_of(store: Path, dataset: Path) -> Path:
    return store / "generations" / generation(dataset)


def test_only_what_a_trusted_key_signed_is_taken(
    store: Path, datasets: Paths, ours: Key, theirs: Key
) -> None:
    folder, signature = folder_of(store, datasets[2]), datasets[2] / SIGNATURE
    for problem in ("not signed", "signed by no trusted key", r"signs another manifest\.json"):
        refused(store, lambda: publish(datasets[2], store), problem)
        if signature.exists():
            shutil.copyfile(datasets[1] / SIGNATURE, signature)
        else:
            sign(datasets[2], theirs)
    signature.unlink()
    sign(datasets[2], ours)
    for _ in range(2):  # of the same serial then
        publish(datasets[2], store)
        assert (folder / SIGNATURE).read_bytes() == signature.read_bytes()
        verify(store, deep=True)
        assert generations(store)[0].generation == generation(datasets[2])


def test_a_signature_from_elsewhere_must_be_of_a_trusted_key(
    store: Path, datasets: Paths, ours: Key, theirs: Key
) -> None:
    """A mirror offers newer signatures for generations that the store has."""
    first = generation(datasets[0])
    text = manifest_text(datasets[0])
    forged = signed_statement(text, [theirs], after=latest_serial(store))
    refused(store, lambda: make_current(store, first, (), forged), "signed by no trusted key")
    refused(store, lambda: make_current(store, first), "older than an accepted")
    genuine = signed_statement(text, [ours], after=latest_serial(store))
    make_current(store, first, (), genuine)
    assert generations(store)[0].generation == first
    verify(store, deep=True)


def test_a_key_id_proves_nothing(store: Path, datasets: Paths, ours: Key, theirs: Key) -> None:
    sign(datasets[2], theirs)
    path = datasets[2] / SIGNATURE
    text = path.read_text(encoding="utf-8").replace(theirs.public.id, ours.public.id)
    path.write_text(text, encoding="utf-8")
    refused(store, lambda: publish(datasets[2], store), "no trusted key made its signature")
    document = json.loads(text)
    del document["signatures"][0]["keyid"]
    path.write_text(json.dumps(document), encoding="utf-8")
    refused(store, lambda: publish(datasets[2], store), "no trusted key made its signature")


def test_another_dataset_is_refused(store: Path, tmp_path: Path, ours: Key) -> None:
    other = named(tmp_path / "other", "else", 7)
    sign(other, ours)
    refused(store, lambda: publish(other, store), "'else', but 'geo' is expected")


def test_changed_files_are_refused(store: Path, datasets: Paths, ours: Key) -> None:
    sign(datasets[2], ours)
    data = bytearray((datasets[2] / "network.arrow").read_bytes())
    data[-1000] ^= 1
    (datasets[2] / "network.arrow").write_bytes(data)
    refused(store, lambda: publish(datasets[2], store), "digest differs")


def test_a_rollback_must_be_signed(store: Path, datasets: Paths, key_files: Paths) -> None:
    before = latest_serial(store)
    refused(store, lambda: rollback(store), "signature is older")
    refused(store, lambda: rollback(store, signing_keys=key_files[1]), "signed by no trusted key")
    assert rollback(store, signing_keys=key_files[0]) == generation(datasets[0])
    assert latest_serial(store) > before
    # What was withdrawn has the older serial now: a mirror cannot bring it back.
    for withdrawn in (datasets[1], folder_of(store, datasets[1])):
        refused(store, lambda of=withdrawn: publish(of, store), "signature is older")  # type: ignore[misc]
    verify(store, deep=True)
    sign(datasets[1], key_files[0])
    publish(datasets[1], store)
    assert generations(store)[0].generation == generation(datasets[1])
    before = latest_serial(store)
    sign(store, key_files[0])  # the current generation, once more
    assert latest_serial(store) == serial_in(folder_of(store, datasets[1])) > before
    refused(store, lambda: sign(store, key_files[1]), "signed by no trusted key")


def test_the_newer_signature_of_a_generation_is_taken(
    store: Path, datasets: Paths, ours: Key
) -> None:
    """Or the right one in place of a damaged one."""
    path, signature = folder_of(store, datasets[1]) / SIGNATURE, datasets[1] / SIGNATURE
    old = signature.read_bytes()
    path.unlink()
    path.write_bytes(b"damaged")
    publish(datasets[1], store)
    assert path.read_bytes() == old
    sign(datasets[1], ours)
    publish(datasets[1], store)
    assert path.read_bytes() == signature.read_bytes() != old
    adopt_signature(path.parent, old)
    assert path.read_bytes() != old
    with pytest.raises(DatasetError, match="signs another"):
        adopt_signature(path.parent, (datasets[0] / SIGNATURE).read_bytes())


def test_the_serial_is_the_time_and_grows_whatever_the_clock_says(
    datasets: Paths, ours: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.time_ns", lambda: 7_999)
    sign(datasets[0], ours)
    assert serial_in(datasets[0]) == 7  # microseconds
    monkeypatch.setattr("time.time_ns", lambda: 1_000)
    sign(datasets[0], ours)
    assert serial_in(datasets[0]) == 8
    for after, expected in ((0, 1), (1, 2), (5, 6)):
        text = signed_statement(manifest_text(datasets[0]), [ours], after)
        assert serial_of(text, "x") == expected
    (datasets[1] / "zone.arrow").unlink()
    (datasets[1] / SIGNATURE).unlink(missing_ok=True)
    with pytest.raises(DatasetError, match="missing"):
        sign(datasets[1], ours)
    assert not (datasets[1] / SIGNATURE).exists()


def test_keys_are_rotated(store: Path, datasets: Paths, ours: Key, theirs: Key) -> None:
    """The new key beside the old one, signed with both, then without the old one."""
    trust(store, [theirs.public])
    trust(store, [theirs.public])  # nothing new
    assert set(keys_of(store).values()) == {ours.public, theirs.public}
    assert not is_signed_by(datasets[2], [ours])
    sign(datasets[2], [ours, theirs])
    assert is_signed_by(datasets[2], [ours, theirs])
    assert not is_signed_by(datasets[1], [ours, theirs])
    publish(datasets[2], store)
    before = latest_serial(store)
    distrust(store, ours.public.id)
    # What a removed key signed still says how new the data are.
    result = trust_of(store)
    assert result is not None
    assert (result.serial, result.name, result.keys) == (before, "geo", (theirs.public,))
    sign(datasets[0], ours)
    refused(store, lambda: publish(datasets[0], store), "signed by no trusted key")
    sign(datasets[0], [ours, theirs])
    publish(datasets[0], store)
    sign(datasets[1], theirs)
    publish(datasets[1], store)


def test_a_store_that_trusts_no_key_takes_everything(
    store: Path, datasets: Paths, ours: Key
) -> None:
    """A signature comes along, for those to whom the store is published on."""
    refused(store, lambda: distrust(store, "0" * 64), "does not trust the key")
    distrust(store, ours.public.id)
    assert trust_of(store) is None
    assert not (store / "trusted").exists()
    publish(datasets[2], store)
    assert not (folder_of(store, datasets[2]) / SIGNATURE).exists()
    for signed in (datasets[0], datasets[2]):
        sign(signed, ours)
        publish(signed, store)
        assert serial_in(folder_of(store, signed)) == serial_in(signed)


def test_keys_without_a_store(tmp_path: Path, datasets: Paths, ours: Key) -> None:
    """The folder of keys may be there first, put there by hand."""
    target = tmp_path / "new"
    trust(tmp_path / "model", [ours.public])
    shutil.copytree(tmp_path / "model" / "trusted", target / "trusted")
    with pytest.raises(DatasetError, match="not signed"):
        publish(datasets[0], target)
    assert not pointer.read(target)
    sign(datasets[0], ours)
    publish(datasets[0], target)
    assert (target / "trusted" / f"{ours.public.id}.pem").exists()


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


def test_what_cannot_be_signed_or_distrusted(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"cannot be read \(No such file or directory\)"):
        manifest_text(tmp_path)
    (tmp_path / SIGNATURE).write_bytes(b" " * (LARGEST_SIGNATURE + 1))
    with pytest.raises(DatasetError, match="more than"):
        read_signature(tmp_path)
    with pytest.raises(DatasetError, match="does not trust the key"):
        distrust(tmp_path / "store", "0" * 64)


def test_the_past_of_a_trusted_store(
    store: Path, datasets: Paths, theirs: Key, ours: Key, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(store.with_name("cache")))
    past, since = datasets[2], "2026-01-01"
    refused(store, lambda: publish(past, store, since=since), "not signed")
    sign(past, theirs)
    refused(store, lambda: publish(past, store, since=since), "signed by no trusted key")
    sign(past, ours)
    sign(store, ours)
    refused(store, lambda: publish(past, store), "older than an accepted one")
    publish(past, store, since=since)
    assert not folder_of(store, past).exists()
    # The signature stays with the delta; its serial counts as any other.
    folder = unpacked(store, generation(past))
    assert read_signature(folder) == read_signature(past)
    assert latest_serial(store) > serial_in(past)
    later = signed_statement(manifest_text(past), [ours], latest_serial(store) + 10**9)
    (past / SIGNATURE).write_bytes(later)
    publish(past, store, since="2026-01-02")
    assert not folder_of(store, past).exists()
    assert latest_serial(store) == serial_in(past)
