"""``serve --trusted-key``: a dataset is served only with the signature of a trusted key."""

from __future__ import annotations

from pathlib import Path

from geolookup import publish, sign
from tests.cli.program import run
from tests.damage import copied
from tests.http.serving import Store, serving
from tests.servers import free_port
from tests.signing.keys import key_files, public
from tests.skips import needs
from tests.store.numbered import id_of, shared

pytestmark = needs("cryptography")


def signed_copy(number: int, target: Path, key: Path) -> Path:
    dataset = copied(shared(number), target)
    sign(dataset, key)
    return dataset


def test_only_a_trusted_generation_is_served(own_store: Store, tmp_path: Path) -> None:
    ours, theirs, _ = key_files()
    store = tmp_path / "store"
    options = ("--dataset", str(store), "--trusted-key", str(public(ours)), "--watch", "0.05")
    publish(signed_copy(1, tmp_path / "theirs", theirs), store)
    command = ("serve", "--accounts", own_store.url, "--port", str(free_port()), *options)
    done = run(*command)
    assert done.returncode == 2
    assert "signed by no trusted key" in done.stderr
    assert done.stderr.count("\n") == 1
    publish(signed_copy(0, tmp_path / "ours", ours), store)
    headers = [("X-API-Key", own_store.key())]
    with serving(own_store, tmp_path, *options) as server:
        generation = server.ask("?ip=8.8.8.8", headers).headers["x-dataset-generation"]
        assert generation == id_of(0)
        for refused in (shared(2), tmp_path / "theirs"):
            publish(refused, store)
            server.until("still answering from generation", 1 + (refused != shared(2)))
        publish(signed_copy(3, tmp_path / "newer", ours), store)
        server.until(f"answering from generation {id_of(3)[:12]}")
        answer = server.ask("?ip=8.8.8.8", headers)
        assert answer.headers["x-dataset-generation"] == id_of(3)
