"""All targets by name."""

from __future__ import annotations

from tests.fuzz import (
    accounts,
    address,
    archive,
    envelope,
    forwarded,
    logs,
    manifest,
    mirror_index,
    prefix_lists,
    query,
    recipe,
    rows,
    scan,
    sources,
    stores,
    tzif,
)
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    "accounts-backup": accounts.BACKUP,
    "address": address.TARGET,
    "archive": archive.TARGET,
    "download-cache": stores.CACHE,
    "envelope": envelope.TARGET,
    "follow-status": stores.STATUS,
    "forwarded": forwarded.TARGET,
    "logs": logs.TARGET,
    "manifest": manifest.TARGET,
    "mirror-index": mirror_index.TARGET,
    "plans": accounts.PLANS,
    "prefix-list": prefix_lists.TARGET,
    "query": query.TARGET,
    "recipe": recipe.TARGET,
    "rows": rows.TARGET,
    "scan": scan.TARGET,
    "store-pointer": stores.POINTER,
    "tzif": tzif.TARGET,
    **sources.TARGETS,
}
