"""Internal names of `geolookup/contract` that tests use."""

from geolookup.contract import (
    address,
    fields,
    gregorian,
    localtime,
    paths,
    special,
    tzdatabase,
)
from geolookup.contract.address import (
    BITS,
    BITS_AFTER_IPV4,
    EMBEDDED,
    IPV4_MAX,
    IPV6_MAX,
    MAPPED,
    MAX,
    NAT64,
    SIX_TO_FOUR,
    canonical,
    effective,
    embedded_ipv4,
    is_address,
    parse,
    parse_ipv4,
    parse_ipv6,
    parse_text,
)
from geolookup.contract.cleaning import (
    LONGEST,
    address_of,
    clean_text,
    forwarded,
    node_address,
    x_forwarded_for,
)
from geolookup.contract.countries import ALPHA_3
from geolookup.contract.fields import (
    BY_SOURCE_COLUMN,
    FIELDS,
    GROUPS,
    LAYERS,
    NAMES,
    PATHS,
    STATED,
    STORED,
    TIME_MEMBERS,
    Field,
    value_in,
)
from geolookup.contract.gregorian import DAY, first_day, timestamp
from geolookup.contract.localtime import EARLIEST, LATEST, Period, time_object
from geolookup.contract.paths import resolve_field, resolve_fields
from geolookup.contract.proxies import MOST_HOPS, TrustedProxies
from geolookup.contract.schema import (
    CONTRACT,
    MAX_COLUMNS,
    TYPES,
    column_members,
    own_field,
    own_schema,
)
from geolookup.contract.special import (
    CARRIES_IPV4,
    IPV4_REGISTRY,
    IPV6_REGISTRY,
    PRIVATE,
    PUBLIC,
    UNREGISTERED,
    Special,
    classes,
    is_private,
    parse_block,
    partition,
    ranges_of,
)
from geolookup.contract.types import Envelope
from geolookup.contract.tzdatabase import Database, database, zone_file, zone_names
