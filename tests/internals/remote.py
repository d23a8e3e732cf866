"""Internal names of `geolookup/remote` that tests use."""

from geolookup.remote import Limits, Pace, TransientError, Version, transfer
from geolookup.remote.address import Remote, location
from geolookup.remote.cache import CacheEntry, sha256_of
from geolookup.remote.key import Key, key_of
from geolookup.remote.transfer import FetchedFile, ask, candidates, fetch, today
from geolookup.remote.web import (
    conditions,
    content_range,
    entity_tag,
    version,
)
