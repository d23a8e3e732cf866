"""``geolookup annotate`` and ``geolookup grep``: files, pipes, terminals, and their ends."""

from __future__ import annotations

import gzip
import random
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from tests.cli.program import pipe, refusal, run, started
from tests.cli.terminals import terminal
from tests.conftest import build_at

TEXT = b"8.8.8.8 a\xff\r\n10.0.0.1\n1.1.1.1"
TAGGED = b"8.8.8.8 [US AS15169] a\xff\r\n10.0.0.1 [private]\n1.1.1.1 [AU AS13335]"


def test_annotate_and_grep() -> None:
    assert pipe("annotate", data=TEXT).stdout == TAGGED
    done = pipe("grep", "--where", "country=AU,US", "--not", "asn=15169", data=TEXT)
    assert (done.stdout, done.returncode) == (b"1.1.1.1\n", 0)


def test_files(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.log", tmp_path / "a.log.gz"
    plain.write_bytes(TEXT)
    packed.write_bytes(gzip.compress(TEXT))
    for path in (plain, packed):
        assert pipe("annotate", str(path)).stdout == TAGGED
        assert pipe("annotate", data=path.read_bytes()).stdout == TAGGED  # the bytes show it
    packed.write_bytes(gzip.compress(random.Random(1).randbytes(1 << 21))[:-100])
    done = pipe("annotate", str(packed))
    assert done.returncode == 2
    assert len(done.stdout) > 1 << 20
    assert done.stderr.startswith(f"geolookup: {packed}".encode())
    assert done.stderr.count(b"\n") == 1
    assert refusal("annotate", str(tmp_path))


def test_the_exit_status_of_grep() -> None:
    for options, status, printed in (
        (("--where", "country=US"), 0, "8.8.8.8 x\n"),
        (("--where", "country=FR"), 1, ""),
        (("--where", "country=FR", "--count"), 1, "0\n"),
        (("--where", "country=US", "-v"), 0, "none\n"),
        (("--not", "country=US", "-vc"), 0, "2\n"),
        (("--where", "country=US", "--color", "always"), 0, "\x1b[01;31m8.8.8.8\x1b[m x\n"),
    ):
        done = run("grep", *options, text="8.8.8.8 x\nnone\n")
        assert (done.returncode, done.stdout) == (status, printed), options
    told = refusal("grep", "--where", "city=Mountain Vew", status=1, text="8.8.8.8 x\n")
    hint = "the location.city_name 'Mountain Vew'; did you mean 'Mountain View'"
    assert f"no answer of this dataset has {hint}" in told


def test_values_do_not_act_on_a_terminal(tmp_path: Path) -> None:
    """A dataset may have names that would."""
    csv = 'network,city_name,isp\n8.8.8.0/24,"a\x1b[2Jb\nc",São\n'
    dataset, _ = build_at(tmp_path, {"a.csv": csv})
    options = ("--dataset", str(dataset), "--template", "{location.city_name} {network.isp}")
    done = pipe("annotate", *options, data=b"8.8.8.8\n")
    assert b"\x1b" not in done.stdout
    assert done.stdout.count(b"\n") == 1
    assert "São".encode() in done.stdout


@pytest.mark.long
def test_colours_on_a_terminal(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"8.8.8.8\n")
    path = str(tmp_path / "a")
    tag = "\x1b[36m[US AS15169]\x1b[0m"
    assert terminal("annotate", path) == (f"8.8.8.8 {tag}\n", 0)
    plain = terminal("annotate", path, environment={"NO_COLOR": "1"})
    assert plain == ("8.8.8.8 [US AS15169]\n", 0)
    never = terminal("annotate", path, "--color", "never")
    assert never == plain
    assert run("annotate", path, "--color", "always").stdout == f"8.8.8.8 {tag}\n"


@pytest.mark.long
def test_each_line_of_a_slow_pipe_is_written_at_once() -> None:
    streams: Any = {"stdin": PIPE, "stdout": PIPE, "stderr": PIPE}
    with started("annotate", **streams) as process:
        for line in (b"8.8.8.8\n", b"10.0.0.1\n"):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline().startswith(line[:-1] + b" [")
        assert process.communicate(timeout=60) == (b"", b"")
