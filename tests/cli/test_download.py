"""``geolookup download`` as a shell runs it: its lines, its exit status, its lock, its end."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.program import run, started
from tests.remote.serving import Act, Handler, file, kept_files, serving, status

ROWS = b"network,isp\n" + b"8.8.8.0/24,one\n" * 20_000


def write_recipe(folder: Path, *paths: str) -> str:
    sources = "".join(f'[[source]]\nformat = "csv"\npath = "{path}"\n' for path in paths)
    path = folder / "recipe.toml"
    path.write_text(f'[dataset]\nname = "t"\n{sources}', encoding="utf-8")
    return str(path)


def test_a_line_for_each_source(tmp_path: Path) -> None:
    size = f"{len(ROWS):,} bytes"
    with serving(file(ROWS)) as site:
        recipe = write_recipe(tmp_path, f"{site.url}/a.csv", "local.csv", f"{site.url}/b.csv")
        cache = ("--cache", str(tmp_path / "cache"))
        first, second = run("download", recipe, *cache), run("download", recipe, *cache)
    assert first.stdout == f"a.csv: fetched {size}\nb.csv: fetched {size}\n"
    assert second.stdout == f"a.csv: unchanged, {size}\nb.csv: unchanged, {size}\n"
    assert (first.returncode, first.stderr) == (second.returncode, second.stderr) == (0, "")


def test_the_environment_names_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(tmp_path / "cache"))
    output = str(tmp_path / "out")
    with serving(file(ROWS)) as site:
        recipe = write_recipe(tmp_path, f"{site.url}/a.csv")
        refused = run("build", recipe, "--output", output, "--offline")
        assert run("download", recipe).returncode == 0
    assert refused.returncode == 2
    assert "not in the cache" in refused.stderr
    done = run("build", recipe, "--output", output, "--offline")
    assert (done.returncode, done.stderr) == (0, "")


def test_what_fails_does_not_stop_the_rest(tmp_path: Path) -> None:
    def act(handler: Handler) -> None:
        (status(404) if "none" in handler.path else file(ROWS))(handler)

    with serving(act) as site:
        recipe = write_recipe(tmp_path, f"{site.url}/none.csv", f"{site.url}/b.csv")
        done = run("download", recipe, "--cache", str(tmp_path / "cache"))
    problem = "no such file on the server (404); correct the path in the recipe"
    assert done.stderr == f"geolookup: none.csv: {site.url}/none.csv: {problem}\n"
    assert done.stdout.startswith("b.csv: fetched ")
    assert done.returncode == 1
    done = run("download", write_recipe(tmp_path, "ftp://h.example/a.csv"))
    assert done.returncode == 2
    assert "unknown scheme ftp://" in done.stderr


class Waiting:
    """A server's act that sends half of a file and waits to be let go."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    def __call__(self, handler: Handler) -> None:
        half = len(ROWS) // 2
        handler.answer(200, ROWS[:half], Content_Length=str(len(ROWS)), ETag='"one"')
        self.begun.set()
        self.go.wait(60)
        handler.wfile.write(ROWS[half:])


@contextmanager
def begun(recipe: str, cache: str, act: Waiting) -> Iterator[subprocess.Popen[bytes]]:
    """A download in a process of its own, in the middle of its file."""
    args = ("download", recipe, "--cache", cache)
    with started(*args, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert act.begun.wait(60)
        try:
            yield process
        finally:
            act.go.set()


def test_a_second_run_at_the_same_time_is_refused(tmp_path: Path) -> None:
    act, cache = Waiting(), str(tmp_path / "cache")
    with serving(act) as site:
        recipe = write_recipe(tmp_path, f"{site.url}/a.csv")
        with begun(recipe, cache, act) as first:
            second = run("download", recipe, "--cache", cache)
            building = run("build", recipe, "--output", str(tmp_path / "o"), "--cache", cache)
            act.go.set()
            output, _ = first.communicate(timeout=60)
    refusal = f"{site.url}/a.csv: another process is downloading it; wait until it has finished\n"
    assert (second.returncode, second.stderr) == (1, f"geolookup: a.csv: {refusal}")
    assert (building.returncode, building.stderr) == (2, f"geolookup: {refusal}")
    assert (first.returncode, output.decode()) == (0, f"a.csv: fetched {len(ROWS):,} bytes\n")
    assert len(site.asked) == 1
    assert kept_files(tmp_path, "a.csv") == [ROWS]


BEFORE, ENDS = b"network,isp\n8.8.8.0/24,before\n", (signal.SIGTERM,)


@pytest.mark.parametrize(
    "number", [signal.SIGKILL, *(pytest.param(item, marks=pytest.mark.long) for item in ENDS)]
)
@pytest.mark.parametrize("before", [BEFORE, pytest.param(None, marks=pytest.mark.long)])
def test_the_end_in_the_middle_leaves_nothing_half(
    number: signal.Signals, before: bytes | None, tmp_path: Path
) -> None:
    act, cache = Waiting(), str(tmp_path / "cache")
    plan: list[Act] = [file(before, '"zero"')] if before else []
    with serving(*plan, act, file(ROWS)) as site:
        recipe = write_recipe(tmp_path, f"{site.url}/a.csv")
        if before:
            run("download", recipe, "--cache", cache)
        with begun(recipe, cache, act) as process:
            while not any(path.stat().st_size for path in Path(cache).glob("*/part/a.csv")):
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(number)
            _, errors = process.communicate(timeout=60)
        assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
        assert b"Traceback" not in errors
        assert kept_files(tmp_path, "a.csv") == ([before] if before else [])
        again = run("download", recipe, "--cache", cache)  # no lock is left either
    assert again.stdout.startswith(f"a.csv: fetched {len(ROWS):,} bytes")
    assert kept_files(tmp_path, "a.csv") == [ROWS]
    assert site.ranges[-1] is not None
