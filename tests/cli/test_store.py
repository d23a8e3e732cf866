"""The commands of a store, of keys, and ``verify``, as a shell runs them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from geolookup import publish
from tests.cli.program import refusal, refused, run
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


def town(store: Path) -> str:
    done = run("lookup", "--dataset", str(store), "8.8.8.8")
    return str(json.loads(done.stdout)["data"]["location"]["city_name"])


def size(dataset: Path) -> int:
    return sum(path.stat().st_size for path in dataset.iterdir() if path.name != fmt.MANIFEST)


def test_publish_roll_back_list_and_prune(tmp_path: Path, datasets: list[Path]) -> None:
    store, ids = tmp_path / "store", [generation(item) for item in datasets]
    for number, dataset in enumerate(datasets):
        done = run("store", "publish", str(dataset), "--store", str(store))
        archived = "; 1 generation archived" * (number == 2)
        about = f"data of 2026-11-20, generation {ids[number][:12]}, {size(dataset):,} bytes"
        line = f"published: n{number}, {about} in {store}{archived}\n"
        assert (done.returncode, done.stdout) == (0, line)
        assert town(store) == f"Town {number}"
    assert run("store", "rollback", str(store)).stdout.startswith(
        "rolled back to: n1, data of 2026-11-20, "
    )
    assert town(store) == "Town 1"

    titles, *listed = run("store", "generations", str(store)).stdout.splitlines()
    assert titles.split("  ")[0] == "generation"
    line = r"([0-9a-f]{12})  \S{20}  \S{20}  2026-11-20  (\w+) +[\d,]+(?:  (\w+))?"
    states = [re.fullmatch(line, item) for item in listed]
    assert [state.groups() for state in states if state] == [
        (ids[2][:12], "folder", "withdrawn"),
        (ids[1][:12], "folder", "current"),
        (ids[0][:12], "archive", None),
    ]
    sizes = re.fullmatch(r"3 generations, ([\d,]+) bytes; .* them, ([\d,]+) bytes", listed[-1])
    folders = ("generations/*/*", "archive/*"), ("changes/*",)
    on_disk = [
        sum(path.stat().st_size for of in each for path in store.glob(of)) for each in folders
    ]
    assert sizes is not None
    assert [int(size.replace(",", "")) for size in sizes.groups()] == on_disk
    described = json.loads(run("store", "generations", str(store), "--json").stdout)
    assert [item["generation"] for item in described] == ids[::-1]
    assert [item["current"] for item in described] == [False, True, False]

    keep = ("store", "prune", str(store), "--keep", "1")
    planned = run(*keep, "--dry-run").stdout.splitlines()
    assert planned[1:] == [
        f"would remove generation {ids[0][:12]}",
        f"would archive generation {ids[2][:12]}",
    ]
    assert {path.name for path in (store / "archive").iterdir()} == {f"{ids[0]}.tar.zst"}
    assert run(*keep).stdout.endswith("; 1 generation removed; 1 generation archived\n")
    assert run(*keep).stdout.startswith("unchanged: n1, ")
    assert town(store) == "Town 1"
    assert run("info", str(store)).stdout.splitlines()[2] == f"generation  {ids[1][:12]}"


def test_the_users_store_is_the_default(
    datasets: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = str(tmp_path / "user")
    publications = [
        json.loads(run("store", "publish", str(dataset), "--store", folder, "--json").stdout)
        for dataset in datasets[:2]
    ]
    assert [done["state"] for done in publications] == ["published"] * 2
    assert [done["bytes"] for done in publications] == [*map(size, datasets[:2])]
    assert all(done["counts"]["ipv4_intervals"] and done["seconds"] for done in publications)
    ids = [done["generation"] for done in publications]
    monkeypatch.setenv("GEOLOOKUP_STORE", folder)
    monkeypatch.setenv("GEOLOOKUP_DATASET", "")
    assert run("store", "generations").stdout.splitlines()[1].startswith(ids[1][:12])
    assert json.loads(run("store", "rollback", "--json").stdout)["generation"] == ids[0]
    assert run("store", "prune", "--keep", "1").returncode == 0
    current = run("info").stdout.splitlines()[0]
    assert current == f"path        {tmp_path / 'user' / 'generations' / ids[0]}"
    text = run("info", str(datasets[0])).stdout
    age = json.loads(run("info", str(datasets[0]), "--json").stdout)["age"]
    assert (age["date"], age["source"], age["undated"]) == ("2026-11-20", "a.csv", [])
    (line,) = re.findall(r"^age         (-?\d+) days? \(a\.csv, 2026-11-20\)$", text, re.MULTILINE)
    assert int(line) - age["days"] in (-1, 0)  # midnight may be between the two


def test_a_store_that_keeps_its_past(datasets: list[Path], tmp_path: Path) -> None:
    store, began = str(tmp_path / "store"), datetime.now(UTC).replace(microsecond=0)
    days = ("2026-03-01", "2026-03-15", "2026-03-08")
    printed = [
        run("store", "publish", str(dataset), "--store", store, "--since", day).stdout
        for dataset, day in zip(datasets, days, strict=True)
    ]
    ids = [generation(dataset) for dataset in datasets]
    begins = [line.split(",")[0] for line in printed]
    assert begins == [
        "published: n0",
        "published: n1",
        "put into the past: n2",
    ]
    described = json.loads(run("store", "generations", store, "--json").stdout)
    assert [item["generation"] for item in described] == [ids[1], ids[2], ids[0]]
    assert [item["current"] for item in described] == [True, False, False]
    assert [item["kept_as"] for item in described] == ["folder", "folder", "archive"]
    since = [item["in_force_since"] for item in described]
    assert since == [f"{day}T00:00:00Z" for day in (days[1], days[2], days[0])]
    assert [item["data_date"] for item in described] == ["2026-11-20"] * 3
    assert all(0 < item["bytes"] < 100_000 for item in described)
    assert all(datetime.fromisoformat(item["at"]) >= began for item in described)
    planned = run(
        "store", "publish", str(SMALL), "--store", store, "--keep-for", "1y", "--dry-run"
    ).stdout
    assert planned.startswith("planned: geolookup-sample, ")
    assert run("store", "prune", store, "--keep-for", "1h", "--json").stdout.count(ids[0]) == 1


def test_verify_prints_what_a_dataset_is(tmp_path: Path) -> None:
    report = verify(SMALL)
    done = run("store", "verify", str(SMALL))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"{SMALL}: undamaged, {report.files} files, {report.bytes:,} bytes",
        f"generation {report.generation[:12]}",
    ]
    dataset = copied(SMALL, tmp_path / "copy")
    (dataset / fmt.ZONE).unlink()
    (dataset / fmt.IPV4).write_bytes(b"")
    first, second = refused("store", "verify", str(dataset), status=1).splitlines()
    assert first.startswith(f"geolookup: {dataset / fmt.IPV4}: 0 bytes, but the manifest says ")
    assert second.startswith(f"geolookup: {dataset / fmt.ZONE}: missing; ")
    assert "no dataset here" in refused("store", "verify", str(tmp_path), status=1)
    for path in (tmp_path / "missing", Path(__file__)):
        assert refusal("store", "verify", str(path)).startswith(str(path))
    current = publish(SMALL, tmp_path / "store").generation or ""
    done = run("store", "verify", str(tmp_path / "store"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1] == f"generation {current[:12]}"
    (tmp_path / "store" / "generations" / current / fmt.ZONE).unlink()
    assert run("store", "verify", str(tmp_path / "store")).returncode == 1


@needs("cryptography")
def test_keys_are_made_trusted_and_sign(tmp_path: Path) -> None:
    from tests.internals.signing import read_public

    data, store, key = copied(SMALL, tmp_path / "data"), str(tmp_path / "store"), tmp_path / "key"
    done = run("mirror", "keys", "create", str(key))
    public = read_public(tmp_path / "key.pub")
    assert done.stdout == f"key {public.id}\npublic key {key}.pub\n"
    assert (
        refusal("mirror", "keys", "create", str(key))
        == f"{key}: exists already; choose another name"
    )
    assert read_public(tmp_path / "key.pub") == public
    assert run("mirror", "keys", "trust", store, f"{key}.pub").stdout == f"{public.id}\n"
    assert "not signed by a trusted key" in refusal("store", "publish", str(data), "--store", store)
    assert run("mirror", "sign", str(data), "--signing-key", str(key)).stdout == f"signed {data}\n"
    assert run("store", "publish", str(data), "--store", store).returncode == 0
    assert "does not trust the key" in refusal(
        "mirror", "keys", "trust", store, "--remove", "0" * 64
    )
    done = run("mirror", "keys", "trust", store, "--remove", public.id)
    assert done.stdout == f"{store} trusts no key: it accepts every dataset\n"
    # Misuse.
    assert "no such folder" in refusal("mirror", "keys", "trust", str(tmp_path / "none"))
    assert "is a dataset, not a store" in refusal("mirror", "keys", "trust", str(data))
    assert "is not empty and not a store" in refusal("mirror", "keys", "trust", str(tmp_path))
    assert "a public key; name its private key" in refusal(
        "mirror", "sign", store, "--signing-key", f"{key}.pub"
    )
    assert "no dataset here" in refusal("mirror", "sign", str(tmp_path), "--signing-key", str(key))
    assert "a private key; name its public key" in refusal(
        "mirror", "keys", "trust", str(tmp_path / "new"), str(key)
    )
    assert not (tmp_path / "new").exists()
    assert refused("mirror", "sign", str(SMALL))


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
    words = [word.format_map(names) for word in command.split()]
    with hold_lock(names["store"] / ".lock"), hold_lock(names["mirror"] / ".lock"):
        notice, end = refused(*words).splitlines()
    file = names["mirror" if "write" in words else "store"] / ".lock"
    assert notice.startswith(f"{file}: locked by ")
    assert notice.endswith("; waiting for up to 0.1 s")
    assert end.startswith(f"geolookup: {file}: locked by ")
