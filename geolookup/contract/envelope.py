"""The objects of the contract: the envelope around data, and the JSON parts of data.

Strategy: a row of the dataset holds the JSON texts of its members, without their names.
This module inserts the names, with one template for each table.
"""

from __future__ import annotations

import json

from geolookup.contract.fields import (
    COUNTRY_MEMBERS,
    CURRENCY_MEMBERS,
    NETWORK_MEMBERS,
    NETWORK_MEMBERS_WITHOUT_ASN,
    PLACE_MEMBERS,
)
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


def to_json(envelope: Mapping[str, object]) -> bytes:
    """Return compact UTF-8 JSON, non-ASCII unescaped."""
    return json.dumps(envelope, ensure_ascii=False, separators=(",", ":")).encode()


#: The error answers of a lookup; they do not depend on the dataset.
FAILURES_JSON: dict[type[ContractError], bytes] = {
    error: to_json(failure(error)) for error in (InvalidAddressError, PrivateAddressError)
}

HEAD = b'{"success":true,"data":{"ip":"'
IP_TYPE = {4: b'","ip_type":"ipv4",', 6: b'","ip_type":"ipv6",'}
TAIL = b'},"error":false,"error_code":null,"error_message":null}'


def _template(members: tuple[str, ...]) -> bytes:
    # ("code", "name") -> b'"code":%b,"name":%b'
    return b",".join(b'"%b":%%b' % member.encode() for member in members)


_COUNTRY = b'"location":{' + _template(COUNTRY_MEMBERS)
_PLACE_TEMPLATE = b"," + _template(PLACE_MEMBERS) + b'},"time":'
_CURRENCY = b',"currency":{' + _template(CURRENCY_MEMBERS) + b"},"
_NETWORK = b'"network":{' + _template(NETWORK_MEMBERS) + b"}"
_NETWORK_WITHOUT_ASN = b'"network":{' + _template(NETWORK_MEMBERS_WITHOUT_ASN) + b"}"


def country_json(country: list[bytes]) -> bytes:
    """Return the beginning of the location member: the fields of the country."""
    return _COUNTRY % tuple(country[: len(COUNTRY_MEMBERS)])


def place_json(texts: list[bytes]) -> bytes:
    """Return the end of the location member, and the name of the time member."""
    return _PLACE_TEMPLATE % tuple(texts)


def currency_json(country: list[bytes]) -> bytes:
    """Return the currency member, with a comma before and after it."""
    # A row of the country table has the texts of both objects: location first, then currency.
    return _CURRENCY % tuple(country[len(COUNTRY_MEMBERS) :])


def network_json(network: list[bytes]) -> bytes:
    """Return the network member; an unknown asn has no text and is left out."""
    return _NETWORK % tuple(network) if network[0] else _NETWORK_WITHOUT_ASN % tuple(network[1:])
