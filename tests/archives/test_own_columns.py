"""Own columns travel with a dataset: archives, deltas, signatures, stores and mirrors."""

from __future__ import annotations

from pathlib import Path

import geolookup
from geolookup.archives.pack import pack
from geolookup.archives.unpack import unpack
from geolookup.dataset import layout as fmt
from geolookup.store.signatures import sign
from tests.archives.test_pack import digests
from tests.conftest import build_at
from tests.damage import copied
from tests.own_sources import FILES, RECIPE, own_dataset
from tests.signing.keys import key_files, public


def later(folder: Path) -> Path:
    """A later generation: a site has another name, and a private network is new."""
    files: dict[str, str | bytes] = dict(FILES)
    files["sites.csv"] = FILES["sites.csv"].replace("Branch", "Depot") + "10.9.0.0/16,New,,\n"
    return build_at(folder, files, RECIPE, previous=own_dataset())[0]


def site(dataset: Path, ip: str) -> object:
    with geolookup.open(dataset) as engine:
        columns = engine.own(ip)
    return columns and columns["site_id"]


def test_a_signed_archive_and_a_delta(tmp_path: Path) -> None:
    key = key_files()[0]
    before, after = copied(own_dataset(), tmp_path / "before"), later(tmp_path)
    for dataset in (before, after):
        sign(dataset, key)
    pack(before, tmp_path / "pack.tar.zst")
    pack(after, tmp_path / "delta.tar.zst", base=before)
    unpack(tmp_path / "pack.tar.zst", tmp_path / "one", trusted_keys=public(key))
    unpack(
        tmp_path / "delta.tar.zst",
        tmp_path / "two",
        base=tmp_path / "one",
        trusted_keys=public(key),
    )
    assert fmt.OWN in digests(tmp_path / "one")
    for dataset, copy in ((before, "one"), (after, "two")):
        assert digests(tmp_path / copy) == digests(dataset)
    assert site(tmp_path / "two", "10.1.2.3") == "Depot"
    assert site(tmp_path / "two", "10.9.2.3") == "New"
