"""Signed archives, builds and updates: signatures are carried, checked and made anew."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import DatasetError, KeyFileError
from tests.archives.test_pack import archived, members, named
from tests.cli.program import run
from tests.internals.archives import MANIFEST_SUM, sum_line
from tests.internals.dataset import layout as fmt
from tests.internals.signing import SIGNATURE, read_signature, serial_in
from tests.internals.signing import PrivateKey as Key
from tests.internals.store import latest_serial, pointer
from tests.signing.keys import Paths, public
from tests.signing.test_trusted_store import content
from tests.skips import needs
from tests.store.numbered import generation

pytestmark = needs("cryptography")
Kind = Callable[..., Path]


@pytest.fixture(params=["whole", "delta"])
def packed(request: pytest.FixtureRequest, datasets: Paths, tmp_path: Path) -> Kind:
    """Pack number 1, whole or against number 0."""
    base = datasets[0] if request.param == "delta" else None

    def pack(dataset: Path = datasets[1], **options: object) -> Path:
        path = tmp_path / "a.tar.zst"
        geolookup.pack(dataset, path, base=base, force=True, **options)  # type: ignore[arg-type]
        return path

    return pack


@pytest.fixture
def store(tmp_path: Path, datasets: Paths, store: Path) -> Path:
    """A store that trusts one key, with number 0; number 1 is unsigned."""
    shutil.rmtree(store / "generations" / generation(datasets[1]))
    (datasets[1] / SIGNATURE).unlink()
    published = pointer.read(store)
    pointer.save(store, published[:1])
    return store


def refused(archive: Path, store: Path, match: str) -> None:
    before = content(store)
    with pytest.raises(DatasetError, match=match) as caught:
        geolookup.publish(archive, store)
    assert "\n" not in str(caught.value)
    assert content(store) == before


def test_an_archive_that_is_signed_when_it_is_packed(
    packed: Kind, datasets: Paths, tmp_path: Path, key_files: Paths, store: Path
) -> None:
    """Or before: the signature travels."""
    archive = packed(signing_keys=key_files)
    assert not (datasets[1] / SIGNATURE).exists()
    for key in key_files:
        geolookup.unpack(
            archive, tmp_path / "out", base=store, trusted_keys=f"{key}.pub", force=True
        )
        geolookup.verify(tmp_path / "out", deep=True, trusted_keys=f"{key}.pub")
    assert geolookup.publish(archive, store) == geolookup.verify(datasets[1]).generation
    assert serial_in(tmp_path / "out") > serial_in(datasets[0])
    geolookup.verify(store, deep=True)
    geolookup.sign(datasets[1], key_files[0])
    geolookup.unpack(packed(), tmp_path / "out", base=datasets[0], force=True)
    assert read_signature(tmp_path / "out") == read_signature(datasets[1]) is not None


def test_what_no_trusted_key_signed(
    packed: Kind,
    datasets: Paths,
    tmp_path: Path,
    ours: Key,
    theirs: Key,
    store: Path,
) -> None:
    for signing, match in (((), "not signed"), (theirs, "signed by no trusted key")):
        archive = packed(signing_keys=signing)
        with pytest.raises(DatasetError, match=match):
            geolookup.unpack(
                archive, tmp_path / "out", base=datasets[0], trusted_keys=[ours.public]
            )
        assert not (tmp_path / "out").exists()
        refused(archive, store, match)


def test_a_replay_of_an_older_archive(
    packed: Kind, datasets: Paths, ours: Key, store: Path
) -> None:
    older = packed(signing_keys=ours).read_bytes()
    newer = packed(signing_keys=ours)
    geolookup.publish(newer, store)
    newer.write_bytes(older)
    refused(newer, store, "signature is older")


def test_the_signature_of_another_archive(
    packed: Kind, datasets: Paths, ours: Key, store: Path, tmp_path: Path
) -> None:
    """Every signature that the attacker has, before every manifest; or none, or a late one."""
    geolookup.sign(datasets[2], ours)
    listed = members(packed(signing_keys=ours))
    at = [member.name for member, _ in listed].index(SIGNATURE)
    text, before, after = read_signature(datasets[2]), listed[:at], listed[at + 1 :]
    assert text is not None
    for forged, problem in (
        ([*before, named(SIGNATURE, text), *after], "signs another manifest"),
        ([*before, *after], "not signed"),
        ([*before, named(SIGNATURE, bytes(1 << 17)), *after], "not signed"),
        ([*before, *after, listed[at]], "not signed"),
    ):
        refused(archived(tmp_path / "f.tar.zst", forged), store, problem)


def test_a_manifest_that_was_changed(packed: Kind, ours: Key, store: Path, tmp_path: Path) -> None:
    """The attacker puts everything right but the signature."""
    listed = members(packed(signing_keys=ours))
    names = [member.name for member, _ in listed]
    at = names.index(fmt.MANIFEST)
    text = listed[at][1].replace(b'"geo"', b'"gee"')
    listed[at] = named(fmt.MANIFEST, text)
    digest = hashlib.sha256(text).hexdigest()
    listed[names.index(MANIFEST_SUM)] = named(MANIFEST_SUM, sum_line(digest))
    refused(archived(tmp_path / "f.tar.zst", listed), store, "signs another manifest")


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "recipe.toml"
    source = '[[source]]\nformat = "csv"\npath = "a.csv"\n'
    path.write_text(f'[dataset]\nname = "geo"\n{source}', encoding="utf-8")
    rewrite(path, "one")
    return path


def rewrite(recipe: Path, isp: str) -> None:
    text = f"network,isp\n8.8.8.0/24,{isp}\n"
    recipe.with_name("a.csv").write_text(text, encoding="utf-8")


@pytest.mark.long
def test_a_build_is_signed_with_each_key(
    recipe: Path, tmp_path: Path, key_files: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that replaces another is newer, whatever the clock says."""
    output = tmp_path / "data"
    signing = [part for key in key_files for part in ("--signing-key", str(key))]
    done = run("build", str(recipe), "--output", str(output), *signing)
    assert (done.returncode, done.stderr) == (0, "")
    for key in key_files:
        geolookup.verify(output, deep=True, trusted_keys=public(key))
    first = serial_in(output)
    monkeypatch.setattr("time.time_ns", lambda: 1)
    geolookup.build(recipe, output, signing_keys=key_files[0], force=True)
    assert serial_in(output) == first + 1
    geolookup.build(recipe, output, force=True)
    assert not (output / SIGNATURE).exists()


def test_without_a_good_key_nothing_is_signed(recipe: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyFileError):
        geolookup.build(recipe, tmp_path / "data", signing_keys=recipe)
    assert not (tmp_path / "data").exists()
    for _ in range(2):
        geolookup.update(recipe, store=tmp_path / "store")
    assert latest_serial(tmp_path / "store") == 0
