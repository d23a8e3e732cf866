"""All targets by name."""

from __future__ import annotations

from tests.fuzz import address, backups, datasets, files, kernels, service, signed, sources, tzif
from tests.fuzz.target import Target

TARGETS: dict[str, Target] = {
    name: target
    for module in (address, backups, datasets, files, kernels, service, signed, tzif, sources)
    for name, target in module.TARGETS.items()
}
