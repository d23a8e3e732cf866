"""All targets by name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tests.fuzz import address, archive, forwarded, manifest, query, recipe, sources
from tests.fuzz.recorded import FOLDER
from tests.fuzz.target import Target


def _recorded() -> Iterator[bytes]:
    """Yield the recorded seeds, where they were recorded."""
    folder = os.environ.get(FOLDER)
    for path in sorted(Path(folder).iterdir()) if folder else ():
        yield path.read_bytes()


TARGETS: dict[str, Target] = {
    "address": address.TARGET,
    "archive": archive.TARGET,
    "forwarded": forwarded.TARGET,
    "manifest": manifest.TARGET,
    "query": query.TARGET,
    "recipe": recipe.TARGET,
    **sources.targets(_recorded),
}
