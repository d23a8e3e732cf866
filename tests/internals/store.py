"""Internal names of `geolookup/store` that tests use."""

from geolookup.store import in_force, paths, pointer, requirements, resolve, retention
from geolookup.store.in_force import periods, read_instant
from geolookup.store.paths import BUNDLED
from geolookup.store.pointer import CURRENT, Change, Publication
from geolookup.store.requirements import Requirements
from geolookup.store.resolve import DatasetPath
from geolookup.store.retention import Retention
from geolookup.store.signatures import adopt_signature, is_signed_by, sign
from geolookup.store.trusted import distrust, keys_of, latest_serial, trust, trust_of
from geolookup.store.watch import Watch
