"""The publisher: builds generations, signs them, publishes them in its store, writes the mirror.

All of it by the library's commands, each a process of its own, as a publisher's timer runs them.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import click

import geolookup
from benchmarks.data import changed
from geolookup.mirrors.index import INDEX, IndexEntry, read_index

_PATIENCE = 900


def geolookup_command(*arguments: object) -> list[str]:
    """Return the command line of a command of geolookup."""
    return [sys.executable, "-m", "geolookup", *map(str, arguments)]


@dataclass(frozen=True, slots=True)
class Publisher:
    """A publisher with its key, its store and its mirror in one folder."""

    folder: Path

    @property
    def key(self) -> Path:
        """The private key; the public one is beside it."""
        return self.folder / "key"

    @property
    def public_key(self) -> Path:
        """The key that the edges trust."""
        return self.folder / "key.pub"

    @property
    def mirror(self) -> Path:
        """The folder that the origin serves."""
        return self.folder / "mirror"

    def build(self, recipe: Path, number: int, previous: Path | None) -> Path:
        """Build generation ``number``; all but the first from a changed source."""
        output = self.folder / f"generation-{number}"
        if previous is None:
            self._run("build", recipe, "--output", output)
            return output
        source = self.folder / f"source-{number}"
        source.mkdir()
        release = changed.write(recipe, source, seed=number)
        self._run("build", release, "--output", output, "--previous", previous)
        for file in source.iterdir():
            file.unlink()
        return output

    def publish(self, dataset: Path) -> None:
        """Sign a dataset, make it the current generation, and write the mirror.

        It is signed now: later generations have the greater serial.
        """
        if not self.key.exists():
            self._run("signing-keys", "create", self.key)
        self._run("sign", dataset, "--signing-key", self.key)
        self._run("publish", dataset, "--store", self.store)
        self._mirror()

    def withdraw(self) -> None:
        """Go back to the generation before, and write the mirror."""
        self._run("rollback", self.store, "--signing-key", self.key)
        self._mirror()

    def delta_bytes(self, base: str) -> int:
        """Return the size of the delta from a generation to the current one."""
        return next(delta.file.bytes for delta in self._index_entry().deltas if delta.base == base)

    def pack_bytes(self) -> int:
        """Return the size of the current generation as a full archive."""
        pack = self._index_entry().pack
        return pack.bytes if pack else 0

    def _index_entry(self) -> IndexEntry:
        """Return what the mirror has of the current generation."""
        path = self.mirror / INDEX
        return read_index(path.read_bytes(), None, path).now

    def generation(self) -> str:
        """Return the current generation."""
        generations = geolookup.generations(self.store)
        return next(g.generation for g in generations if g.current)

    @property
    def store(self) -> Path:
        """The store that it publishes into."""
        return self.folder / "store"

    def _mirror(self) -> None:
        self._run("mirror", self.store, "--output", self.mirror, "--signing-key", self.key)

    def _run(self, *arguments: object) -> None:
        command = geolookup_command(*arguments)
        try:
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=_PATIENCE)
        except subprocess.CalledProcessError as error:
            message = error.stderr.strip()
            raise click.ClickException(f"'geolookup {arguments[0]}' failed: {message}") from error
