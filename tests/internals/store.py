"""Internal names of `geolookup/store` that tests use."""

from geolookup.store import in_force, paths, pointer, requirements, resolve
from geolookup.store.in_force import Retention, periods, read_instant
from geolookup.store.paths import BUNDLED
from geolookup.store.pointer import CURRENT, Change, Pointer, Publication
from geolookup.store.requirements import Requirements
from geolookup.store.resolve import DatasetPath
from geolookup.store.trusted import (
    adopt_signature,
    distrust,
    is_signed_by,
    keys_of,
    latest_serial,
    sign,
    trust,
    trust_of,
)
from geolookup.store.watch import Watch
