"""One bad answer of a server: the next honest one ends every failure of a follower and an update.

Each round starts the real commands. The server answers once with a hostile entity tag or with
content that is not the file, and is honest from then on.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import geolookup
from geolookup.mirrors.folder import mirror
from geolookup.mirrors.index import INDEX
from tests.builder.test_last_copies import BAD
from tests.mirrors.conftest import etag_of, folder_act
from tests.remote.serving import Act, Handler, file, serving, status
from tests.remote.test_headers import BAD_TAGS
from tests.store.numbered import published
from tests.updates.publisher import COUNTRY, countries, publishing


def attack() -> None:
    with tempfile.TemporaryDirectory() as target:
        began, folder = time.monotonic(), Path(target)
        polls, updates = attack_follower(folder), attack_updates(folder)
        seconds = time.monotonic() - began
    print(f"{polls} followers and {updates} updates recovered at once; {seconds:.0f} s")


def attack_follower(folder: Path) -> int:
    """Return how many followers recovered in their next poll."""
    mirrored = folder / "mirror"
    mirror(published(folder / "origin", 0, 1), mirrored)
    index = (mirrored / INDEX).read_bytes()
    # The valid index under a hostile tag; and no index at all, under the tag of the valid one.
    bad = [file(index, tag) for tag in BAD_TAGS.values()]
    bad += [file(content, etag_of(index)) for content in (b"{}", b"", index[:-9], b"\xff" * 99)]
    for number, act in enumerate(bad):
        store = str(folder / f"edge-{number}")
        with serving(strict(folder_act(mirrored))) as site:
            command = ("update", f"{site.url}/", "--store", store)
            assert run(*command) == 0
            site.plan.insert(0, act)
            run(*command)
            assert run(*command) == 0, number
        assert geolookup.verify(store, deep=True)
    return len(bad)


def strict(honest: Act) -> Act:
    """Like nginx, the server answers a long or folded header line with 400."""

    def act(handler: Handler) -> None:
        values = handler.headers.values()
        is_bad = any(len(value) > 4096 or "\n" in value for value in values)
        (status(400) if is_bad else honest)(handler)

    return act


def attack_updates(folder: Path) -> int:
    """Return how many updates failed without a loss, and succeeded the next time."""
    with publishing(folder) as publisher:
        cache = ("--cache", str(folder / "cache"))
        command = ("update", str(publisher.recipe), "--store", str(folder / "store"), *cache)
        options = (*cache, "--offline", "--force", "--output", str(folder / "built"))
        assert run(*command) == 0
        for content in BAD.values():
            publisher.put(COUNTRY, content)
            assert run(*command) == 1
            assert run("build", str(publisher.recipe), *options) == 0
            publisher.put(COUNTRY, countries("DE"))
            assert run(*command) == 0
    return len(BAD)


def run(*arguments: str) -> int:
    """Run a command, and return its exit status; a traceback ends the attack."""
    command = [sys.executable, "-m", "geolookup", *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode
