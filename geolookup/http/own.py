"""Own columns over HTTP: the member ``own``, added to the bytes of an envelope.

The contract's members keep their bytes. Only a service with ``--own`` uses this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from geolookup.contract.envelope import FAILURES_JSON, HEAD, TAIL, to_json
from geolookup.contract.fields import OWN
from geolookup.errors import PrivateAddressError

if TYPE_CHECKING:
    from geolookup.engine import Engine

_MEMBER = b',"%b":%%b' % OWN.encode()
_PRIVATE = FAILURES_JSON[PrivateAddressError]


def lookup_json(engine: Engine, ip: object) -> bytes:
    """Return the envelope with the own columns: last in data, or after the error of 10002.

    The member is an object of all own columns, null if unknown. The caller compares the generation
    afterwards.
    """
    body = engine.lookup_json(ip)
    if body.startswith(HEAD):
        return body.removesuffix(TAIL) + _member(engine, ip) + TAIL
    if body == _PRIVATE:
        return body[:-1] + _member(engine, ip) + b"}"
    return body


def _member(engine: Engine, ip: object) -> bytes:
    try:
        columns = engine.own(ip)
    except ValueError:  # a reload with ``allow_lost_fields`` lost all of them
        columns = {}
    return _MEMBER % to_json(columns or {})
