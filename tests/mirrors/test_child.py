"""The installation in a process of its own: its result, its errors, and its end."""

from __future__ import annotations

import sys

import pytest

from geolookup import OutputError
from geolookup.errors import MirrorError
from tests.internals.mirrors import INDEX, child, install_in_child, poll
from tests.mirrors.conftest import Edge, content_of
from tests.store.numbered import id_of

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads processes of Linux"),
]


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
