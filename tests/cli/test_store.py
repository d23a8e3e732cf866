"""The groups ``store`` and ``mirror`` as a shell runs them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from geolookup import publish
from tests.cli.program import refusal, refused, run, words
from tests.damage import copied
from tests.datasets import SMALL
from tests.internals.archives import pack
from tests.internals.dataset import layout as fmt
from tests.internals.filesystem import hold_lock, locks
from tests.internals.integrity import verify
from tests.signing.keys import key_files
from tests.skips import needs
from tests.store.numbered import generation, numbered, shared


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("numbered")
    return [numbered(folder / str(number), number, date="2026-11-20") for number in range(3)]


def printed(command: str, *paths: object) -> str:
    """Return standard output of a command that succeeds; ``{}`` in it is the next path."""
    done = run(*words(command, *paths))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def described(command: str, *paths: object) -> Any:
    return json.loads(printed(f"{command} --json", *paths))


def town(store: Path) -> str:
    done = printed("lookup --dataset {} 8.8.8.8", store)
    return str(json.loads(done)["data"]["location"]["city_name"])


def size(dataset: Path) -> int:
    return sum(path.stat().st_size for path in dataset.iterdir() if path.name != fmt.MANIFEST)


def test_publish_roll_back_list_and_prune(tmp_path: Path, datasets: list[Path]) -> None:
    store, ids = tmp_path / "store", [generation(item) for item in datasets]
    for number, dataset in enumerate(datasets):
        archived = "; 1 generation archived" * (number == 2)
        about = f"data of 2026-11-20, generation {ids[number][:12]}, {size(dataset):,} bytes"
        line = f"published: n{number}, {about} in {store}{archived}\n"
        assert printed("store publish {} --store {}", dataset, store) == line
        assert town(store) == f"Town {number}"
    line = "rolled back to: n1, data of 2026-11-20, "
    assert printed("store rollback {}", store).startswith(line)
    assert town(store) == "Town 1"

    _, *listed, sums = printed("store generations {}", store).splitlines()
    line = r"([0-9a-f]{12})  \S{20}  \S{20}  2026-11-20  (\w+) +[\d,]+ *(\w*)"
    assert [match.groups() for item in listed if (match := re.fullmatch(line, item))] == [
        (ids[2][:12], "folder", "withdrawn"),
        (ids[1][:12], "folder", "current"),
        (ids[0][:12], "archive", ""),
    ]
    on_disk = [
        sum(path.stat().st_size for pattern in patterns for path in store.glob(pattern))
        for patterns in (("generations/*/*", "archive/*"), ("changes/*",))
    ]
    text = "3 generations, {:,} bytes; what changed between them, {:,} bytes"
    assert sums == text.format(*on_disk)

    prune = "store prune {} --keep 1"
    assert printed(f"{prune} --dry-run", store).splitlines()[1:] == [
        f"would remove generation {ids[0][:12]}",
        f"would archive generation {ids[2][:12]}",
    ]
    assert {path.name for path in (store / "archive").iterdir()} == {f"{ids[0]}.tar.zst"}
    assert printed(prune, store).endswith("; 1 generation removed; 1 generation archived\n")
    assert printed(prune, store).startswith("unchanged: n1, ")
    assert town(store) == "Town 1"


def test_the_users_store_is_the_default(
    datasets: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEOLOOKUP_STORE", str(tmp_path / "user"))
    monkeypatch.setenv("GEOLOOKUP_DATASET", "")
    done = [described("store publish {}", dataset) for dataset in datasets[:2]]
    assert [item["state"] for item in done] == ["published"] * 2
    assert [item["bytes"] for item in done] == [*map(size, datasets[:2])]
    assert all(item["counts"]["ipv4_intervals"] and item["seconds"] for item in done)
    first, second = (item["generation"] for item in done)
    assert [item["generation"] for item in described("store generations")] == [second, first]
    assert described("store rollback")["generation"] == first
    assert described("store prune --keep 1")["generation"] == first
    assert described("info")["generation"] == first


def test_a_store_that_keeps_its_past(datasets: list[Path], tmp_path: Path) -> None:
    store, began = tmp_path / "store", datetime.now(UTC).replace(microsecond=0)
    days = ("2026-03-01", "2026-03-15", "2026-03-08")
    lines = [
        printed("store publish {} --store {} --since {}", dataset, store, day)
        for dataset, day in zip(datasets, days, strict=True)
    ]
    begins = ["published: n0", "published: n1", "put into the past: n2"]
    assert [line.split(",")[0] for line in lines] == begins
    ids = [generation(dataset) for dataset in datasets]
    entries = described("store generations {}", store)
    assert [
        (item["generation"], item["current"], item["kept_as"], item["in_force_since"][:10])
        for item in entries
    ] == [
        (ids[1], True, "folder", days[1]),
        (ids[2], False, "folder", days[2]),
        (ids[0], False, "archive", days[0]),
    ]
    assert all(item["data_date"] == "2026-11-20" for item in entries)
    assert all(datetime.fromisoformat(item["at"]) >= began for item in entries)
    planned = printed("store publish {} --store {} --keep-for 1y --dry-run", SMALL, store)
    assert planned.startswith("planned: geolookup-sample, ")
    assert described("store prune {} --keep-for 1h", store)["removed"] == [ids[0]]


def test_verify_prints_what_a_dataset_is(tmp_path: Path) -> None:
    report = verify(SMALL)
    assert printed("store verify {}", SMALL).splitlines() == [
        f"{SMALL}: undamaged, {report.files} files, {report.bytes:,} bytes",
        f"generation {report.generation[:12]}",
    ]
    current = publish(SMALL, tmp_path / "store").generation or ""
    _, line = printed("store verify {}", tmp_path / "store").splitlines()
    assert line == f"generation {current[:12]}"
    dataset = copied(SMALL, tmp_path / "copy")
    (dataset / fmt.ZONE).unlink()
    (dataset / fmt.IPV4).write_bytes(b"")
    first, second = refused("store", "verify", str(dataset), status=1).splitlines()
    assert first.startswith(f"geolookup: {dataset / fmt.IPV4}: 0 bytes, but the manifest says ")
    assert second.startswith(f"geolookup: {dataset / fmt.ZONE}: missing; ")
    assert "no dataset here" in refused("store", "verify", str(tmp_path), status=1)


@needs("cryptography")
def test_keys_are_made_trusted_and_sign(tmp_path: Path) -> None:
    from tests.internals.signing import read_public

    data, store, key = copied(SMALL, tmp_path / "data"), tmp_path / "store", tmp_path / "key"
    made = printed("mirror keys create {}", key)
    public = read_public(tmp_path / "key.pub")
    assert made == f"key {public.id}\npublic key {key}.pub\n"
    assert printed("mirror keys trust {} {}.pub", store, key) == f"{public.id}\n"
    unsigned = refusal("store", "publish", str(data), "--store", str(store))
    assert "not signed by a trusted key" in unsigned
    assert printed("mirror sign {} --signing-key {}", data, key) == f"signed {data}\n"
    assert printed("store publish {} --store {}", data, store)
    for command, problem in (
        ("mirror keys create {key}", f"{key}: exists already; choose another name"),
        (f"mirror keys trust {{store}} --remove {'0' * 64}", "does not trust the key"),
        ("mirror keys trust {folder}/none", "no such folder"),
        ("mirror keys trust {data}", "is a dataset, not a store"),
        ("mirror keys trust {folder}", "is not empty and not a store"),
        ("mirror keys trust {folder}/new {key}", "a private key; name its public key"),
        ("mirror sign {store} --signing-key {key}.pub", "a public key; name its private key"),
        ("mirror sign {folder} --signing-key {key}", "no dataset here"),
    ):
        names = {"data": data, "store": store, "key": key, "folder": tmp_path}
        assert problem in refusal(*words(command, **names))
    assert read_public(tmp_path / "key.pub") == public
    assert not (tmp_path / "new").exists()
    done = printed("mirror keys trust {} --remove {}", store, public.id)
    assert done == f"{store} trusts no key: it accepts every dataset\n"


@pytest.mark.parametrize(
    "command",
    [
        "store publish {dataset} --store {store}",
        "update {archive} --store {store}",
        "store rollback {store}",
        "store prune {store}",
        "mirror sign {store} --signing-key {key}",
        "mirror keys trust {store} {key}.pub",
        "mirror write {store} --output {mirror}",
    ],
)
@needs("cryptography")
def test_a_lock_that_is_never_released_ends_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """With a line while it waits, and one that names the file in the end."""
    names = {name: tmp_path / name for name in ("store", "mirror", "archive")}
    names |= {"dataset": shared(0), "key": key_files()[0]}
    publish(shared(0), names["store"])
    pack(shared(0), names["archive"])
    names["mirror"].mkdir()
    monkeypatch.setattr(locks, "NOTICE", 0)
    monkeypatch.setattr(locks, "PATIENCE", 0.1)
    with hold_lock(names["store"] / ".lock"), hold_lock(names["mirror"] / ".lock"):
        notice, end = refused(*words(command, **names)).splitlines()
    file = names["mirror" if "write" in command else "store"] / ".lock"
    assert notice.startswith(f"{file}: locked by ")
    assert notice.endswith("; waiting for up to 0.1 s")
    assert end.startswith(f"geolookup: {file}: locked by ")
