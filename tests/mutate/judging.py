"""Copies of the tree, in which tests judge mutants."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tests.mutate.mutant import Mutant

_EXTENSIONS = "geolookup/kernel/_*.so"
_OPTIONS = ("-x", "-q", "--tb=short", "-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin")
_MEMORY_LIMIT = 8 << 30
_LARGEST_FILE = 1 << 30


@dataclass(frozen=True)
class Limits:
    """The limits of a mutant in seconds of CPU and wall time; by default a first run's."""

    cpu: int = 3600
    wall: float = 3600


class Verdict(Enum):
    """The verdict of the tests on a mutant. A tally counts timed-out mutants as killed."""

    KILLED = "killed"
    TIMED_OUT = "timed out"
    SURVIVED = "survived"


class JudgeError(Exception):
    """The tests fail on the unchanged tree."""


class Copy:
    """A copy of the tree: the files that git tracks or would add, and the compiled kernel."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root, self._folder = root, folder
        for file in _files(root):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / file, folder / file, follow_symlinks=False)
        (folder / "tmp").mkdir()
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(folder), str(folder / "builder"))),
            "TMPDIR": str(folder / "tmp"),
            "CI": "1",  # hypothesis draws the same examples in each run
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # loading them takes a second in each process
        }
        # The unchanged tree compiled these datasets: they would hide mutants of the compiler.
        self._environment.pop("GEOLOOKUP_TESTS_DATASETS", None)

    def measure(self, tests: list[str], environment: dict[str, str]) -> Limits:
        """Run tests on the unchanged tree; return the limits of a mutant."""
        before, started = _child_seconds(), time.monotonic()
        status, output = self._run(tests, environment, Limits())
        if status:
            raise JudgeError(output)
        cpu, wall = _child_seconds() - before, time.monotonic() - started
        return Limits(int(3 * cpu) + 20, 8 * wall + 120)  # the machine may be busier later

    def verdict(
        self, mutant: Mutant, tests: list[str], environment: dict[str, str], limits: Limits
    ) -> Verdict | None:
        """Return whether the tests notice a mutant; None if it cannot be built."""
        self._write(mutant.file, mutant.source)
        try:
            if not mutant.file.endswith(".py") and not self._build():
                return None
            status, _ = self._run(tests, environment, limits)
        finally:
            self._restore(mutant.file)
        if status in (-signal.SIGKILL, -signal.SIGXCPU):
            return Verdict.TIMED_OUT
        return Verdict.KILLED if status else Verdict.SURVIVED

    def _run(
        self, tests: list[str], environment: dict[str, str], limits: Limits
    ) -> tuple[int, str]:
        def set_limits() -> None:
            resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu, limits.cpu))
            resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY_LIMIT, _MEMORY_LIMIT))
            resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        command = [sys.executable, "-m", "pytest", *_OPTIONS, *tests]
        if (self._folder / "tests" / "mutate").exists():  # not in the trees of our own tests
            command += ["-p", "tests.mutate.no_shrinking"]
        # A file, not a pipe: a process that a test leaves running would keep a pipe open.
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
            process = subprocess.Popen(
                command,
                cwd=self._folder,
                env={**self._environment, **environment},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=set_limits,  # noqa: PLW1509 - it takes no lock that a thread may hold
            )
            try:
                process.wait(timeout=limits.wall)
            except subprocess.TimeoutExpired:
                output.write("timeout")
            finally:
                with contextlib.suppress(
                    ProcessLookupError
                ):  # also processes that a test left running
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                shutil.rmtree(self._folder / "tmp", ignore_errors=True)
                (self._folder / "tmp").mkdir(exist_ok=True)
            output.seek(0)
            return process.returncode, output.read()

    def _build(self) -> bool:
        built = [*self._folder.glob(_EXTENSIONS)]
        for extension in built:
            extension.unlink()
        subprocess.run(
            [sys.executable, "setup.py", "-q", "build_ext", "--inplace", "--force"],
            cwd=self._folder,
            env={**self._environment, "CFLAGS": "-O0 -g0 -w"},
            check=False,
            capture_output=True,
        )
        return len([*self._folder.glob(_EXTENSIONS)]) == len(built)

    def _write(self, file: str, source: str) -> None:
        path = self._folder / file
        path.write_text(source, encoding="utf-8")
        # Bytecode is matched by the second and the size of its source; a mutant can share both.
        with contextlib.suppress(FileNotFoundError):
            Path(importlib.util.cache_from_source(str(path))).unlink()

    def _restore(self, file: str) -> None:
        self._write(file, (self._root / file).read_text(encoding="utf-8"))
        if not file.endswith(".py"):
            for extension in self._root.glob(_EXTENSIONS):
                shutil.copy(extension, self._folder / extension.relative_to(self._root))


def _files(root: Path) -> list[str]:
    if not (root / ".git").exists():
        return [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root,
        check=True,
        capture_output=True,
        text=True,
    )
    extensions = (str(path.relative_to(root)) for path in root.glob(_EXTENSIONS))
    known = (*listed.stdout.split("\0"), *extensions)
    return [file for file in known if file and (root / file).is_file()]


def _child_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
