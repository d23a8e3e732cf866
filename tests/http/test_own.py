"""``serve --own``: own columns after ``network``, for private addresses after the error."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import PrivateAddressError
from tests import envelopes as contract
from tests.cli.program import refusal
from tests.datasets import SMALL
from tests.http.serving import Reply, Server, Store, serving
from tests.http.test_admin import REQUESTS
from tests.internals.http import ANSWERED, REFUSED, Answers, lookup_json
from tests.own_sources import own_dataset

PUBLIC = ("8.8.8.8", "8.8.4.4", "9.9.9.9", "1.1.1.1", "2001:4860:4860::8888", "::ffff:8.8.8.8")
PRIVATE = ("10.1.2.3", "10.2.0.1", "100.64.0.1", "192.0.2.1", "fd00::1", "127.0.0.1", "172.16.0.1")
_TAIL = b'},"error":false,"error_code":null,"error_message":null}'


def ask(server: Server, key: str, ip: str) -> Reply:
    return server.ask(f"?ip={ip}", [("X-API-Key", key)])


def is_answer(reply: Reply, engine: geolookup.Engine, ip: str) -> None:
    """Check the bytes of an answer: those of the engine, and the own columns."""
    own = b',"own":' + contract.compact(engine.own(ip) or {})
    if reply.status == 200:
        second = json.loads(reply.body)["data"]["time"]["current_timestamp"]
        body = engine.lookup_json(ip, at=second)
        assert body.endswith(_TAIL)
        assert reply.body == body[: -len(_TAIL)] + own + _TAIL
    else:
        assert reply.status == 400
        assert reply.body == engine.lookup_json(ip)[:-1] + own + b"}"


def test_own_columns_of_every_address(own_store: Store, tmp_path: Path) -> None:
    key = own_store.key()
    options = ("--dataset", str(own_dataset()), "--own")
    with geolookup.open(own_dataset()) as engine:
        with serving(own_store, tmp_path, *options, workers=2) as server:
            for ip in (*PUBLIC, *PRIVATE):
                is_answer(ask(server, key, ip), engine, ip)
            data = json.loads(ask(server, key, "8.8.8.8").body)["data"]
            assert [*data][-2:] == ["network", "own"]
            hq = json.loads(ask(server, key, "10.2.0.1").body)
            assert (hq["data"], hq["error_code"], hq["own"]["site_id"]) == (None, 10002, "HQ")
            assert ask(server, key, "1.2.3").body == engine.lookup_json("1.2.3")
            refused = server.ask("?ip=8.8.8.8")
            assert refused.status == 401
            assert b'"own"' not in refused.body
            private = server.metric(REQUESTS, status="400", code="10002")
            assert private == 1 + len(PRIVATE)
        with serving(own_store, tmp_path, *options[:2]) as server:
            for ip in (*PUBLIC, *PRIVATE):
                assert b'"own"' not in ask(server, key, ip).body


def test_a_dataset_without_own_columns(own_store: Store) -> None:
    text = refusal("serve", "--accounts", own_store.url, "--dataset", str(SMALL), "--own")
    assert text == (
        "--own: the dataset has no own columns; declare them in [columns] of the recipe"
    )


@pytest.mark.long
def test_a_reload_keeps_own_columns(own_store: Store, tmp_path: Path) -> None:
    dataset, key = tmp_path / "dataset", own_store.key()
    shutil.copytree(own_dataset(), dataset)
    shutil.copytree(SMALL, tmp_path / "new")
    options = ("--dataset", str(dataset), "--own")
    with serving(own_store, tmp_path, *options) as server:
        before = ask(server, key, "8.8.8.8").body
        dataset.rename(tmp_path / "old")
        (tmp_path / "new").rename(dataset)
        server.process.send_signal(signal.SIGHUP)
        server.until("lacks")
        after = ask(server, key, "8.8.8.8").body
        assert json.loads(after)["data"]["own"] == json.loads(before)["data"]["own"]


def test_a_permitted_loss_gives_no_columns(sample: geolookup.Engine) -> None:
    answers = Answers(sample.generation)
    for ip, outcome in (("8.8.8.8", ANSWERED), ("10.0.0.1", REFUSED[PrivateAddressError])):
        answer = json.loads(body := lookup_json(sample, ip))
        assert (answer["data"] or answer)["own"] == {}
        assert answers.lookup_answer(body)[0] is outcome
