"""Internal names of `geolookup/remote` that tests use."""

from geolookup.remote import CacheState, Limits, Pace, TransientError, Version, headers, transfer
from geolookup.remote.address import Remote, location
from geolookup.remote.cache import CacheEntry, sha256_of
from geolookup.remote.headers import (
    coding,
    conditions,
    entity_tag,
    http_date,
    response_range,
    retry_seconds,
    version,
)
from geolookup.remote.key import Key, key_of
from geolookup.remote.transfer import FetchedFile, ask, fetch
