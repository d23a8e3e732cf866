"""The dataset of a client of ``distributed``, sent to the workers of its cluster as a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from distributed import Worker, WorkerPlugin, get_client, get_worker

from geolookup.archives.members import SUFFIX
from geolookup.engine import Engine
from geolookup.signing.keys import PublicKey
from geolookup.tables.workers import HostCopy, Source, archive_for_workers


def send(engine: Engine, source: Source) -> Source:
    """Have the workers of the cluster get the dataset as one file, and return their source."""
    name = f"geolookup-{engine.generation}{SUFFIX}"
    try:
        client: Any = get_client()
    except ValueError:
        problem = "ship: no cluster to send to"
        raise ValueError(f"{problem}; create a distributed.Client, or leave out ship") from None
    if not client.get_metadata([name], default=False):
        with TemporaryDirectory() as folder:
            archive = Path(folder, name)
            archive_for_workers(source, engine, archive)
            client.register_plugin(_File(name, archive.read_bytes()), name=name)
        client.set_metadata([name], True)
    return _Sent(name, source.keys)


class _File(WorkerPlugin):
    """A file that the scheduler sends to each worker, also to one that joins later."""

    def __init__(self, name: str, content: bytes) -> None:
        self._name, self._content = name, content

    def setup(self, worker: Worker) -> None:
        """Write the file to the folder of a worker; distributed removes that at its end."""
        Path(worker.local_directory, self._name).write_bytes(self._content)
        self._content = b""


@dataclass(frozen=True, slots=True)
class _Sent:
    """A file of ``_File``; ``name`` has its generation."""

    name: str
    keys: tuple[PublicKey, ...]
    remedy: ClassVar[str] = "run the job again"

    def open(self, generation: str | None) -> Engine:
        """Open the dataset in the file, unpacked into the cache of the host."""
        path = Path(get_worker().local_directory, self.name)
        return HostCopy(str(path), self.keys, self.name).open(generation)
