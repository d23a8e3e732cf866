"""What a follower writes of its polls and when it polls: its waits and lines; the command."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.mirrors import follow
from geolookup.mirrors.follow import Follower, poll
from geolookup.mirrors.polling import (
    STATUS,
    Polling,
    Status,
    read_status,
    write_status,
)
from geolookup.mirrors.source import Source
from tests.cli.program import run
from tests.mirrors.conftest import Edge, folder_act
from tests.remote.serving import status


@dataclass
class Lines:
    told: list[str] = field(default_factory=list)
    warned: list[str] = field(default_factory=list)


@pytest.fixture
def lines() -> Lines:
    return Lines()


@pytest.fixture
def follower(followed: Edge, lines: Lines, monkeypatch: pytest.MonkeyPatch) -> Follower:
    """A follower that installs in this process: a child is tested elsewhere."""

    def here(source: Source, _install: object, tell: follow.Tell) -> object:
        return poll(source, None, tell)

    monkeypatch.setattr(follow, "poll", here)
    polling = Polling(1000, 0)
    return Follower(followed.source, polling, lines.told.append, lines.warned.append)


def test_news_is_a_line(
    follower: Follower, lines: Lines, followed: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.uniform", lambda low, high: (low + high) / 2)
    assert [follower.step() for _ in range(3)] == [500, 1000, 1000]  # random after the first poll
    first = f"generation {followed.current} is current"
    assert (lines.told, lines.warned) == ([first], [])
    wanted = followed.publish(2)
    follower.step()
    assert len(lines.told) == 2
    assert lines.told[1].startswith(f"generation {wanted} is current, from a delta of ")


def test_failures_are_told_once_and_wait_longer_each_time(
    follower: Follower, lines: Lines, followed: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed.site.plan[:] = [status(403)]
    assert [follower.step() for _ in range(5)] == [100, 200, 400, 800, 1000]
    assert len(lines.warned) == 1
    assert "refuses access (403)" in lines.warned[0]
    assert "the next poll is in 100 s" in lines.warned[0]
    followed.site.plan[:] = [status(404)]
    assert follower.step() == 1000
    assert len(lines.warned) == 2
    followed.site.plan[:] = [folder_act(followed.folder)]
    follower.step()
    assert follower.step() == 1000
    assert lines.told == [
        "the mirror can be followed again",
        f"generation {followed.current} is current",
    ]
    followed.site.plan[:] = [status(404)]
    assert follower.step() == 100
    assert len(lines.warned) == 3
    for wait, expected in (("2000", 2000), ("1000000000", 3600)):  # the mirror says when
        followed.site.plan[:] = [status(503, Retry_After=wait)]
        assert follower.step() == expected
    followed.site.plan[:] = [folder_act(followed.folder)]
    follower.step()

    def failing(*_: object) -> object:
        raise MemoryError

    monkeypatch.setattr(follow, "poll", failing)
    assert follower.step() == 100
    assert lines.warned[-1] == "MemoryError; the next poll is in 100 s"


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


@pytest.mark.long
def test_what_no_later_poll_can_use_is_misuse(tmp_path: Path) -> None:
    (tmp_path / "geo").mkdir()
    (tmp_path / "geo" / "manifest.json").touch()
    for url, store, problem in (
        ("ftp://example.com/", "edge", "unknown scheme ftp"),
        ("http://example.com/", "edge", "is not encrypted"),
        ("/nowhere", "geo", "is a dataset, not a store"),
    ):
        commands = ("follow", "update") if "://" in url else ("follow",)
        for command in commands:
            done = run(command, url, "--store", str(tmp_path / store))
            assert (done.returncode, done.stderr.count("\n")) == (2, 1)
            assert problem in done.stderr
            assert not (tmp_path / "edge").exists()


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


POLLINGS = st.builds(Polling, st.floats(0.1, 1e6), st.none() | st.floats(0, 1e6))


def most_of(polling: Polling, wait: float) -> float:
    """Return the longest that a wait may become."""
    jitter = polling.every / 10 if polling.jitter is None else polling.jitter
    return wait * (1 + jitter / polling.every)


@given(POLLINGS)
def test_waits_differ_by_the_jitter_at_most(polling: Polling) -> None:
    assert polling.every <= polling.next() <= most_of(polling, polling.every)
    assert 0 <= polling.first() <= polling.every


@given(POLLINGS, st.integers(1, 10_000))
def test_failures_wait_from_a_tenth_of_the_interval_up_to_it(
    polling: Polling, failures: int
) -> None:
    most = min(polling.every, polling.every / 10 * 2 ** min(failures - 1, 20))
    result = polling.retry(failures, None)
    assert most <= result <= most_of(polling, most)


@given(POLLINGS, st.integers(1, 100), st.floats(0, 1e9))
def test_a_wait_that_the_mirror_asks_for_is_kept_within_reason(
    polling: Polling, failures: int, asked: float
) -> None:
    result = polling.retry(failures, asked)
    assert result >= min(asked, max(polling.every, 3600))
    assert result <= most_of(polling, max(polling.every, 3600))


def test_waits_are_spread_over_their_range(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evenly between two ends, of which this takes each."""
    polling = Polling(100, 50)
    for end, waits in ((0, (0, 100, 100, 30)), (1, (100, 150, 150, 45))):
        monkeypatch.setattr("random.uniform", lambda *ends, end=end: ends[end])
        asked = polling.retry(1, 30)
        assert (polling.first(), polling.next(), polling.retry(9, None), asked) == waits
