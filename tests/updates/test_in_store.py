"""Updates of one store: how long ago one succeeded, and two at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import UpdateError
from geolookup.store import pointer
from geolookup.store.pointer import Published
from tests.builder.remote.serving import Handler, status
from tests.cli.program import run
from tests.conftest import ROOT
from tests.tiers import few
from tests.updates.conftest import Update, country, is_tidy
from tests.updates.publisher import ASN, COUNTRY, Publisher, countries


def recorded(store: Path, checked: datetime) -> None:
    path = store / "update.json"
    stated = json.loads(path.read_text())
    path.write_text(json.dumps({**stated, "checked": checked.isoformat()}))


def test_if_older(update: Update, publisher: Publisher, store: Path) -> None:
    now = datetime.now(UTC)
    assert update(if_older="7d").state == "updated"  # there was nothing
    asked = len(publisher.site.asked)
    assert update(if_older="7d").state == "recent"
    recorded(store, now - timedelta(days=6, hours=23))
    assert update(if_older=timedelta(days=7)).state == "recent"
    assert len(publisher.site.asked) == asked
    recorded(store, now - timedelta(days=7, minutes=1))
    assert update(if_older=7).state == "current"
    assert len(publisher.site.asked) > asked
    done = run("update", str(publisher.recipe), "--if-older", "1w")
    assert done.stdout == f"the last update of {store} is recent; nothing done\n"


@pytest.mark.long
def test_the_default_store_says_that_it_answers(publisher: Publisher, store: Path) -> None:
    told = "without --dataset, commands and geolookup.open() answer from "
    assert told in run("update", str(publisher.recipe)).stdout
    assert told not in run("update", str(publisher.recipe), "--store", str(store)).stdout


def test_a_failed_update_is_not_recent(update: Update, publisher: Publisher) -> None:
    publisher.acts[ASN] = status(404)
    for _ in range(2):
        with pytest.raises(UpdateError):
            update(if_older="7d")


def test_another_dataset_is_not_recent(update: Update, publisher: Publisher) -> None:
    update()
    publisher.rewrite('name = "published"', 'name = "another"')
    assert update(if_older="7d").state == "updated"


@pytest.mark.parametrize(
    "clock",
    few(
        [
            "9999-12-31T00:00:00+00:00",
            "2027-01-01T00:00:00+00:00",
            "1970-01-01T00:00:00+00:00",
            "nonsense",
            "2026-11-22T00:00:00",
        ],
        5,
    ),
)
def test_a_wrong_clock_blocks_no_update(update: Update, store: Path, clock: str) -> None:
    """The clock was ahead when the last update succeeded, or the record cannot be read."""
    update()
    path = store / "update.json"
    path.write_text(json.dumps({"dataset": "published", "checked": clock}))
    assert update(if_older="7d").state == "current"
    for text in ("", "[]", "[" * 100_000, '{"checked": 1}'):
        path.write_text(text)
        assert update(if_older="7d").state == "current"


def test_the_order_of_generations_is_not_that_of_the_clock(
    update: Update, publisher: Publisher, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock was years ahead at the first update, and is right at the second."""
    monkeypatch.setattr(pointer, "published_now", lambda of: Published(of, "2099-01-01T00:00:00Z"))
    update()
    monkeypatch.undo()
    monkeypatch.setenv("GEOLOOKUP_STORE", str(store))
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(publisher.folder / "cache"))
    monkeypatch.delenv("GEOLOOKUP_DATASET", raising=False)
    publisher.put(COUNTRY, countries("DE"))
    assert update().state == "updated"
    assert country() == "DE"


@pytest.mark.parametrize("kind", few(["file", "link", "dangling", "folder"], 2))
def test_whatever_has_the_name_of_the_staging_directory(
    kind: str, update: Update, store: Path, tmp_path: Path
) -> None:
    update()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").touch()
    staging = store / ".update"
    if kind == "file":
        staging.touch()
    elif kind == "folder":
        (staging / "dataset").mkdir(parents=True)
    else:
        staging.symlink_to(tmp_path / ("elsewhere" if kind == "link" else "nowhere"))
    assert update().state == "current"
    assert is_tidy(store)
    assert (tmp_path / "elsewhere" / "file").exists()


@pytest.mark.long
def test_two_at_once(publisher: Publisher, store: Path) -> None:
    """The second waits, says so, and finds everything current."""
    begun, go = threading.Event(), threading.Event()
    usual = publisher.acts[ASN]

    def waiting(handler: Handler) -> None:
        begun.set()
        assert go.wait(60)
        usual(handler)

    publisher.acts[ASN] = waiting
    args = [sys.executable, "-m", "geolookup", "update", str(publisher.recipe)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "builder")])}

    def started() -> subprocess.Popen[str]:
        return subprocess.Popen(
            args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    with started() as first:
        assert begun.wait(60)
        with started() as second:
            assert second.stdout is not None
            told = second.stdout.readline()
            assert (
                told == "another update of this store is running; waiting until it has finished\n"
            )
            time.sleep(0.1)
            assert second.poll() is None
            go.set()
            output, errors = first.communicate()
            rest, others = second.communicate()
    assert (first.returncode, errors) == (second.returncode, others) == (0, "")
    assert "published into" in output
    assert "is current in" in rest
    assert len(geolookup.generations(store)) == 1
    assert is_tidy(store)
