"""What a process under atheris is told to do."""

from __future__ import annotations

from dataclasses import dataclass

#: The first line that the process writes.
READY = "ready\n"


@dataclass(frozen=True, slots=True)
class Job:
    """Fuzz a target for some seconds; with ``planted``, until its bug is found.

    ``options`` are libFuzzer's. ``found`` is the folder for inputs that are found, ``memory`` that
    of temporary files; ``output`` is the file for all that is printed.
    """

    name: str
    seconds: int
    found: str
    memory: str
    output: str
    options: list[str]
    planted: bool
