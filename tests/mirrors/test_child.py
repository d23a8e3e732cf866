"""The installation in a process of its own: its result, its errors, and its end."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event

import pytest

from geolookup import OutputError
from geolookup.errors import MirrorError
from geolookup.mirrors import child
from geolookup.mirrors.child import install_in_child
from geolookup.mirrors.follow import poll
from geolookup.mirrors.index import INDEX
from tests.mirrors.conftest import Edge, content_of, folder_act
from tests.remote.serving import Handler
from tests.servers import PATIENCE, family, until
from tests.store.numbered import id_of

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads processes of Linux"),
]


def installing(parent: int) -> list[int]:
    actual = []
    for process in family(parent):
        with suppress(OSError):  # it has ended
            if "geolookup.mirrors.child" in Path(f"/proc/{process}/cmdline").read_text("utf-8"):
                actual.append(process)
    return actual


def test_a_poll_by_a_child(
    followed: Edge, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """An error of the child, or its end, is one line; the store stays as it was."""
    wanted, index = followed.publish(2), (followed.folder / INDEX).read_bytes()
    before, archives = content_of(followed.store), followed.store / ".follow" / "archives"
    killed = "import os, signal; input(); os.kill(os.getpid(), signal.SIGKILL)"
    for code, problem in (
        (killed, "killed by SIGKILL"),
        ("raise SystemExit(7)", "ended with status 7"),
        (None, r"index\.json: not a signed document"),
        (None, "archives"),
    ):
        with monkeypatch.context() as patch:
            if code:
                patch.setattr(child, "command", lambda _, code=code: [sys.executable, "-c", code])
            elif problem == "archives":
                archives.write_text("in the way", encoding="utf-8")
            else:
                (followed.folder / INDEX).write_bytes(b"no index")
            with pytest.raises((OutputError, MirrorError), match=problem) as caught:
                poll(followed.source, install_in_child)
        assert "\n" not in str(caught.value)
        assert content_of(followed.store) == before
        (followed.folder / INDEX).write_bytes(index)
    assert (followed.current, followed.state["failures"]) == (id_of(1), 4)
    archives.unlink()
    polled = poll(followed.source, install_in_child)
    assert (polled.state, polled.generation, followed.current) == ("updated", wanted, wanted)
    assert capfd.readouterr().err == ""


@contextmanager
def hanging(edge: Edge) -> Iterator[None]:
    """Let the server send no archive during the block: who installs one waits for it."""
    go, whole = Event(), folder_act(edge.folder)

    def act(handler: Handler) -> None:
        if "deltas" in handler.path or "packs" in handler.path:
            go.wait(PATIENCE)
        whole(handler)

    edge.site.plan[:] = [act]
    try:
        yield
    finally:
        go.set()


_FOLLOW = "import sys; from geolookup.cli import main; sys.argv[0] = 'geolookup'; main()"


def follow(edge: Edge, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", _FOLLOW, "follow", edge.site.url, "--store", str(edge.store)]
    pipe = subprocess.PIPE
    return subprocess.Popen([*command, *options], stdout=pipe, stderr=pipe, text=True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=str)
def test_a_signal_ends_a_follower_that_waits(followed: Edge, number: signal.Signals) -> None:
    before = content_of(followed.store)
    with follow(followed, "--every", "1h") as process:
        until(lambda: followed.state["polls"].get("current"))
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert content_of(followed.store) == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=str)
def test_a_follower_that_ends_takes_its_child_with_it(
    followed: Edge, number: signal.Signals
) -> None:
    wanted = followed.publish(2)
    with hanging(followed), follow(followed, "--every", "1h") as process:
        until(lambda: installing(process.pid))
        (installs,) = installing(process.pid)
        process.send_signal(number)
        assert process.wait(PATIENCE) == (0 if number == signal.SIGTERM else -number)
        until(lambda: not _runs(installs))
    assert followed.current == id_of(1)
    assert not list((followed.store / "generations").glob(".*"))
    followed.poll()
    assert followed.current == wanted


def _runs(process: int) -> bool:
    """Return whether a process runs; one that has ended may wait for its parent."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"
