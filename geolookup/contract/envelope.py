"""The envelope around data, as an object and as JSON."""

from __future__ import annotations

import json

from geolookup.errors import ContractError, InvalidAddressError, PrivateAddressError

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from geolookup.contract.types import Data, Envelope

    #: A JSON object.
    Object = dict[str, Any]
else:
    Object = dict


def success(data: Data) -> Envelope:
    """Return the envelope of an answer."""
    return {
        "success": True,
        "data": data,
        "error": False,
        "error_code": None,
        "error_message": None,
    }


def failure(error: type[ContractError]) -> Envelope:
    """Return the envelope of a contract error."""
    return {
        "success": False,
        "data": None,
        "error": True,
        "error_code": error.code,
        "error_message": error.message,
    }


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def to_json(envelope: Mapping[str, object]) -> bytes:
    """Return compact UTF-8 JSON, non-ASCII unescaped."""
    return _encode(envelope).encode()


#: The error answers of a lookup; they do not depend on the dataset.
FAILURES_JSON: dict[type[ContractError], bytes] = {
    error: to_json(failure(error)) for error in (InvalidAddressError, PrivateAddressError)
}

#: The parts of an answer around ``ip`` and after the members of data.
HEAD = b'{"success":true,"data":{"ip":"'
IP_TYPE = {4: b'","ip_type":"ipv4",', 6: b'","ip_type":"ipv6",'}
TAIL = b'},"error":false,"error_code":null,"error_message":null}'
