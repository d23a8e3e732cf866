"""What a follower writes of its polls and when it polls: its waits and lines; the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.internals.mirrors import STATUS, Status, read_status, write_status
from tests.mirrors.conftest import Edge


@pytest.mark.long
def test_one_poll_by_the_command(edge: Edge) -> None:
    options = ("update", edge.site.url, "--store", str(edge.store), "--limit-rate", "5M")
    done = run(*options)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.count("\n") == 1
    assert "no such file on the server" in done.stderr
    wanted = edge.publish(0)
    done = run(*options)
    assert (done.returncode, done.stderr) == (0, "")
    size, published = done.stdout.splitlines()
    assert size.startswith(f"{edge.site.url}: a pack of ")
    assert published == f"generation {wanted} published into {edge.store}"
    assert run(*options).stdout == f"generation {wanted} is current in {edge.store}\n"
    assert edge.current == wanted
    state = edge.state  # which others read
    assert (state["generation"], state["url"], state["bytes"] > 0) == (wanted, edge.site.url, True)
    assert run("update", str(edge.folder), *options[2:]).stdout == (  # the same mirror, as a folder
        f"generation {wanted} is current in {edge.store}\n"
    )


def test_what_is_written_is_read(tmp_path: Path) -> None:
    result = Status(url="https://x/", index="ab", serial=7).after_failure("no")
    result = result.after_success("updated", generation="cd", bytes=5)
    write_status(tmp_path, result)
    assert read_status(tmp_path) == result


CHANGES: tuple[dict[str, object], ...] = (
    {"format": "other"},
    {"format_version": 2},
    {"serial": "7"},
    {"serial": True},
    {"failures": None},
    {"polled_at": "yesterday"},
    {"polled_at": "2026-11-23T10:00:00"},
    {"expires_at": "tomorrow"},
    {"succeeded_at": "2026-11-23T10:00:00"},
    {"expires_at": "2026-11-23T10:00:00"},
    {"polls": []},
    {"polls": {"current": "1"}},
    {"more": 1},
)


def test_another_file_is_as_none(tmp_path: Path) -> None:
    write_status(tmp_path, Status(serial=7).after_success("current"))
    stated = json.loads((tmp_path / STATUS).read_text(encoding="utf-8"))
    changed = [json.dumps({**stated, **change}) for change in CHANGES]
    lacking = [
        json.dumps({k: v for k, v in stated.items() if k != name})
        for name in ("format", "format_version")
    ]
    for text in (*changed, *lacking, "", "[]", "null", "{", "[" * 100_000):
        (tmp_path / STATUS).write_text(text, encoding="utf-8")
        assert read_status(tmp_path) == Status(), text[:99]
    assert read_status(tmp_path / "nowhere") == Status()
