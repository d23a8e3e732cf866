"""Lookups with API keys: the gate admits the request, then the engine answers it."""

from __future__ import annotations

from typing import Any, Protocol

from geolookup.contract.envelope import failure, to_json
from geolookup.contract.types import Envelope
from geolookup.errors import ContractError
from geolookup.gate.accounts import Accounts


class Lookups(Protocol):
    """The part of an engine that the gate uses."""

    def lookup(self, ip: object, *, at: Any = None) -> Envelope:
        """Return the envelope for an address."""

    def lookup_json(self, ip: object, *, at: Any = None) -> bytes:
        """Return the envelope for an address as JSON."""


class Service:
    """Lookups that need an API key. Raises AccountsError, never a ContractError."""

    def __init__(self, engine: Lookups, accounts: Accounts) -> None:
        self._engine, self._accounts = engine, accounts
        #: ``Accounts.admit``, for adapters that render errors themselves.
        self.admit = accounts.admit

    def lookup(self, ip: object = None, *, api_key: object, client: object = None) -> Envelope:
        """Return the envelope for ``ip``, else for ``client``; the key is checked first."""
        try:
            self.admit(api_key)
        except ContractError as error:
            return failure(type(error))
        return self._engine.lookup(client if ip is None else ip)

    def lookup_json(self, ip: object = None, *, api_key: object, client: object = None) -> bytes:
        """Return what ``lookup`` does, as JSON."""
        try:
            self.admit(api_key)
        except ContractError as error:
            return to_json(failure(type(error)))
        return self._engine.lookup_json(client if ip is None else ip)
