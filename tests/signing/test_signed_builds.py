"""Builds and updates that sign, and upgrades, which leave no wrong signature."""

from __future__ import annotations

import shutil
from itertools import product
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import DatasetError, KeyFileError
from geolookup.signing.keys import PrivateKey as Key
from geolookup.signing.statement import SIGNATURE, serial_in
from geolookup.store.generations import generations
from geolookup.store.signatures import latest_serial
from geolookup.store.trusted import distrust, trust
from tests.cli.program import run
from tests.former_dataset import former
from tests.signing.keys import Paths, public
from tests.skips import needs
from tests.store.numbered import shared

pytestmark = needs("cryptography")


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
    signing = [part for key in key_files for part in ("--sign", str(key))]
    done = run("build", str(recipe), "--output", str(output), *signing)
    assert (done.returncode, done.stderr) == (0, "")
    for key in key_files:
        geolookup.verify(output, deep=True, trusted=public(key))
    first = serial_in(output)
    monkeypatch.setattr("time.time_ns", lambda: 1)
    geolookup.build(recipe, output, sign=key_files[0], force=True)
    assert serial_in(output) == first + 1
    geolookup.build(recipe, output, force=True)
    assert not (output / SIGNATURE).exists()


def test_without_a_good_key_nothing_is_signed(recipe: Path, tmp_path: Path) -> None:
    with pytest.raises(KeyFileError):
        geolookup.build(recipe, tmp_path / "data", sign=recipe)
    assert not (tmp_path / "data").exists()
    for _ in range(2):
        geolookup.update(recipe, store=tmp_path / "store")
    assert latest_serial(tmp_path / "store") == 0


@pytest.mark.long
def test_updates_of_a_store_that_trusts(
    recipe: Path, tmp_path: Path, key_files: Paths, ours: Key, theirs: Key
) -> None:
    store = tmp_path / "store"
    trust(store, [ours.public])
    assert geolookup.update(recipe, store=store, sign=key_files[0]).state == "updated"
    rewrite(recipe, "two")
    for signing, dry_run in product(([], [key_files[1]]), (False, True)):
        with pytest.raises(DatasetError, match="name one with --sign KEY"):
            geolookup.update(recipe, store=store, sign=signing, dry_run=dry_run)
    assert len(generations(store)) == 1
    assert geolookup.update(recipe, store=store, sign=key_files[0]).state == "updated"
    before = latest_serial(store)
    assert geolookup.update(recipe, store=store, sign=key_files[0]).state == "current"
    assert latest_serial(store) == before
    # The keys are rotated although the data stay.
    trust(store, [theirs.public])
    assert geolookup.update(recipe, store=store, sign=key_files).state == "current"
    assert latest_serial(store) > before
    distrust(store, ours.public.id)
    geolookup.verify(store, deep=True, trusted=public(key_files[1]))
    assert geolookup.update(recipe, store=store, sign=key_files[1]).state == "current"


def test_an_upgrade_leaves_no_wrong_signature(tmp_path: Path, key_files: Paths) -> None:
    """The bytes change, so that the signature of the former dataset is one of other bytes."""
    old = tmp_path / "old"
    former(shared(0), old)
    shutil.copyfile(shared(0) / "manifest.json", old / SIGNATURE)  # any file of that name
    geolookup.upgrade(old)
    assert not (old / SIGNATURE).exists()
    geolookup.sign(old, key_files[0])
    geolookup.verify(old, trusted=public(key_files[0]))
