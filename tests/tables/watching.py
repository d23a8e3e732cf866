"""The files that the Python workers of a cluster open: a log, written by a hook."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_HOOK = """
import os, sys

def watch(event, arguments):
    if event == "open" and str(arguments[0]).endswith("/ipv4.arrow"):
        with open(os.environ["WATCHED"], "a") as log:
            log.write(f"{os.getpid()} {arguments[0]}\\n")

if "WATCHED" in os.environ:
    sys.addaudithook(watch)
"""


@dataclass(frozen=True)
class Watch:
    """A folder with the hook, and the log; processes with ``environment`` write it."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Watch:
        folder.mkdir(exist_ok=True)
        (folder / "sitecustomize.py").write_text(_HOOK, encoding="utf-8")
        (folder / "log").touch()
        return cls(folder)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of the processes to watch; they import this tree, not an installed one."""
        path = os.pathsep.join([str(self.folder), os.environ["PYTHONPATH"]])
        return {"PYTHONPATH": path, "WATCHED": str(self.folder / "log")}

    def opened(self, dataset: Path) -> list[str]:
        """Return the pid of each process that opened a dataset, once for each time."""
        lines = (self.folder / "log").read_text(encoding="utf-8").splitlines()
        pids = [line.partition(" ") for line in lines]
        return [pid for pid, _, path in pids if path == f"{dataset}/ipv4.arrow"]
