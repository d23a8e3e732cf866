"""All targets by name."""

from __future__ import annotations

from tests.fuzz import (
    address,
    archive,
    envelope,
    forwarded,
    logs,
    manifest,
    mirror_index,
    query,
    recipe,
    rows,
    scan,
    sources,
    tzif,
)
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    "address": address.TARGET,
    "archive": archive.TARGET,
    "envelope": envelope.TARGET,
    "forwarded": forwarded.TARGET,
    "logs": logs.TARGET,
    "manifest": manifest.TARGET,
    "mirror-index": mirror_index.TARGET,
    "query": query.TARGET,
    "recipe": recipe.TARGET,
    "rows": rows.TARGET,
    "scan": scan.TARGET,
    "tzif": tzif.TARGET,
    **sources.TARGETS,
}
