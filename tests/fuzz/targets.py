"""All targets by name."""

from __future__ import annotations

from tests.fuzz import (
    accounts,
    address,
    archive,
    files,
    kernels,
    manifest,
    signed,
    sources,
    tzif,
    web,
)
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    name: target
    for module in (
        *(accounts, address, archive, files, kernels, manifest, signed, tzif, web, sources),
    )
    for name, target in module.TARGETS.items()
}
