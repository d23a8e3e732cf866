"""Internal names of `geolookup/filesystem` that tests use."""

from geolookup.filesystem import atomic, cache, limits, locks, open_regular
from geolookup.filesystem.copying import copy_file
from geolookup.filesystem.locks import hold_lock, hold_lock_if_free, sweep, sweep_once
from geolookup.filesystem.ownership import check_dataset, check_strictly, create
from geolookup.filesystem.signatures import START_BYTES, looks_like
from geolookup.filesystem.unpacking import LZMA_MEMORY, unpack_stream
