"""Internal names of `geolookup/mirrors` that tests use."""

from geolookup.mirrors import child, install, polling
from geolookup.mirrors.child import install_in_child
from geolookup.mirrors.folder import mirror
from geolookup.mirrors.follow import poll
from geolookup.mirrors.index import (
    INDEX,
    KIND,
    Delta,
    File,
    Index,
    IndexEntry,
    index_text,
    payload,
    read_index,
)
from geolookup.mirrors.polling import STATUS, PollResult, Status, read_status, write_status
from geolookup.mirrors.source import Source
