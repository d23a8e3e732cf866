"""geolookup: the location, time, currency and network of an IP address, offline.

>>> import geolookup
>>> geolookup.lookup("8.8.8.8")["data"]["location"]["country_code"]
'US'
"""

from __future__ import annotations

from geolookup.engine import Engine, open  # noqa: A004 - the public name
from geolookup.errors import (
    BuildError,
    ClosedError,
    ContractError,
    DatasetError,
    DiffError,
    GeoLookupError,
    InvalidAddressError,
    InvalidKeyError,
    MissingKeyError,
    OutputError,
    PrivateAddressError,
    QuotaError,
    RateLimitError,
)

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

__all__ = [
    "BuildError",
    "ClosedError",
    "ContractError",
    "DatasetError",
    "DiffError",
    "Engine",
    "GeoLookupError",
    "InvalidAddressError",
    "InvalidKeyError",
    "MissingKeyError",
    "OutputError",
    "PrivateAddressError",
    "QuotaError",
    "RateLimitError",
    "__version__",
    "lookup",
    "lookup_json",
    "open",
]

_default: list[Engine] = []


def _engine() -> Engine:
    """Return the default engine, opened when first asked for.

    Two threads that ask at once may each open one; both are good, and one stays.
    """
    if not _default:
        _default.append(open())
    return _default[0]


def lookup(ip: object, *, at: Any = None) -> dict[str, Any]:
    """Return the envelope for an address from the default dataset; see ``Engine.lookup``."""
    return _engine().lookup(ip, at=at)


def lookup_json(ip: object, *, at: Any = None) -> bytes:
    """Return the envelope as JSON from the default dataset; see ``Engine.lookup_json``."""
    return _engine().lookup_json(ip, at=at)
