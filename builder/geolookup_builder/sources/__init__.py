"""The readers, one module a format, registered by name.

A format is added by writing a module with a ``SourceFormat`` and naming it here.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping

from geolookup_builder.sources.formats import (
    cidr_list,
    cloud,
    dbip,
    generic,
    geofeed,
    ip2location,
    ip2proxy,
    ip2region,
    ipinfo,
    iplocate,
    iptoasn,
    maxmind,
    mmdb,
    pfx2as,
    rir,
    sapics,
    tor,
)
from geolookup_builder.sources.reading.reader import SourceFormat

FORMATS: dict[str, SourceFormat] = {
    source_format.name: source_format
    for source_format in (
        cidr_list.FORMAT,
        cloud.FORMAT,
        dbip.FORMAT,
        generic.FORMAT,
        generic.JSON_LINES,
        generic.PARQUET,
        geofeed.FORMAT,
        ip2location.FORMAT,
        ip2proxy.FORMAT,
        ip2region.FORMAT,
        ipinfo.FORMAT,
        iplocate.FORMAT,
        iptoasn.FORMAT,
        maxmind.FORMAT,
        mmdb.FORMAT,
        pfx2as.FORMAT,
        rir.FORMAT,
        sapics.FORMAT,
        tor.FORMAT,
    )
}
#: The readers by format, also of a table in memory: recipes do not name that.
READERS: Mapping[str, SourceFormat] = ChainMap(FORMATS, {generic.TABLE.name: generic.TABLE})
