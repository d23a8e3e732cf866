"""All targets by name."""

from __future__ import annotations

from tests.fuzz import (
    address,
    archive,
    forwarded,
    logs,
    manifest,
    query,
    recipe,
    rows,
    sources,
    tzif,
)
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    "address": address.TARGET,
    "archive": archive.TARGET,
    "forwarded": forwarded.TARGET,
    "logs": logs.TARGET,
    "manifest": manifest.TARGET,
    "query": query.TARGET,
    "recipe": recipe.TARGET,
    "rows": rows.TARGET,
    "tzif": tzif.TARGET,
    **sources.TARGETS,
}
