"""The readers of formats, registered by name.

A format is added by writing a ``SourceFormat`` in a module of ``formats`` and naming it here.
"""

from __future__ import annotations

from collections import ChainMap

from geolookup_builder.sources.formats import (
    cloud,
    generic,
    headerless,
    ip2location,
    lists,
    maxmind,
    mmdb,
)
from geolookup_builder.sources.reading.reader import SourceFormat

FORMATS: dict[str, SourceFormat] = {
    source_format.name: source_format
    for source_format in (
        lists.CIDR_LIST,
        cloud.FORMAT,
        headerless.DBIP,
        generic.FORMAT,
        generic.JSON_LINES,
        generic.PARQUET,
        lists.GEOFEED,
        ip2location.FORMAT,
        ip2location.PROXY_FORMAT,
        headerless.IP2REGION,
        mmdb.IPINFO_FORMAT,
        mmdb.IPLOCATE_FORMAT,
        headerless.IPTOASN,
        maxmind.FORMAT,
        mmdb.FORMAT,
        lists.PFX2AS,
        lists.RIR,
        headerless.SAPICS,
        lists.TOR,
    )
}
#: The readers by format, also of a table in memory: recipes do not name that.
READERS = ChainMap(FORMATS, {generic.TABLE.name: generic.TABLE})
