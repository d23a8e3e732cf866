"""The program with its arguments, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from geolookup import cli
from tests.conftest import ROOT

_SECONDS = 120
_FORKS = "forkserver" in get_all_start_methods()
#: What the processes have imported before they begin: a command would spend most of its time there.
_PRELOADED = [
    __name__,
    *(
        "geolookup.cli.enrich",
        "geolookup.files.formats",
        "geolookup.files.enrich",
        "geolookup.integrity",
    ),
    *("geolookup.comparison", "geolookup.archives.publish", "geolookup_builder.compile"),
    *("pyarrow.parquet", "pyarrow.compute", "pyarrow.csv", "pyarrow.json", "pyarrow.dataset"),
]


def run(
    *args: str, text: str = "", env: dict[str, str] | None = None, folder: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Run the program with the text on standard input; a traceback fails whatever is tested."""
    done = pipe(*args, data=text.encode(), env=env, folder=folder)
    out, err = (each.decode().replace("\r\n", "\n") for each in (done.stdout, done.stderr))
    return subprocess.CompletedProcess(args, done.returncode, out, err)


def pipe(
    *args: str, data: bytes = b"", env: dict[str, str] | None = None, folder: Path = ROOT
) -> subprocess.CompletedProcess[bytes]:
    """Do the same with bytes, in a folder; TimeoutExpired after longer than any command takes.

    With an environment of its own the process is a fresh one, for modules read it when imported.
    """
    fork = _FORKS and env is None
    done = _forked(args, data, folder) if fork else _fresh(args, data, env, folder)
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    assert b"Exception ignored" not in done.stderr, done.stderr.decode()
    return done


def _fresh(
    args: Sequence[str], data: bytes, env: dict[str, str] | None, folder: Path
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "geolookup", *args],
        input=data,
        capture_output=True,
        check=False,
        cwd=folder,
        timeout=_SECONDS,
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]),
            **(env or {}),
        },
    )


def _forked(args: Sequence[str], data: bytes, folder: Path) -> subprocess.CompletedProcess[bytes]:
    context = get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    with TemporaryDirectory() as streams:
        paths = [Path(streams, name) for name in ("in", "out", "err")]
        paths[0].write_bytes(data)
        given = (list(args), dict(os.environ), paths, folder)
        process = context.Process(target=_main, args=given)
        process.start()
        process.join(_SECONDS)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(args, _SECONDS)
        out, err = (path.read_bytes() for path in paths[1:])
    return subprocess.CompletedProcess(args, process.exitcode, out, err)


def _main(args: list[str], environment: dict[str, str], paths: list[Path], folder: Path) -> None:
    """Run in the forked process, with files for its standard streams."""
    for number, path in enumerate(paths):
        opened = os.open(path, os.O_RDWR | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["geolookup", *args]
    cli.main()
