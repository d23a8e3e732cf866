"""Own columns over HTTP: the member ``own``, added to the bytes of an envelope.

The contract's members keep their bytes. Only a service with ``--own`` uses this module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from geolookup.contract.envelope import FAILURES_JSON, HEAD, TAIL, to_json
from geolookup.contract.fields import OWN
from geolookup.contract.paths import unknown_field
from geolookup.errors import PrivateAddressError, SettingsError
from geolookup.kernel.lookups import state_of

if TYPE_CHECKING:
    from geolookup.engine import Engine

_MEMBER = b',"%b":%%b' % OWN.encode()
_PRIVATE = FAILURES_JSON[PrivateAddressError]


class OwnLookups:
    """An engine whose envelopes have the own columns: last in data, or after the error of 10002.

    The member is an object of all own columns, null if unknown.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def generation(self) -> str:
        """The generation that answers now."""
        return self._engine.generation

    @property
    def stale(self) -> bool:
        """Whether its data exceed ``max_age``."""
        return self._engine.stale

    def lookup_json(self, ip: object) -> bytes:
        """Return the envelope for an address; the caller compares the generation afterwards."""
        body = self._engine.lookup_json(ip)
        if body.startswith(HEAD):
            return body.removesuffix(TAIL) + self._member(ip) + TAIL
        if body == _PRIVATE:
            return body[:-1] + self._member(ip) + b"}"
        return body

    def _member(self, ip: object) -> bytes:
        try:
            columns = self._engine.own(ip)
        except ValueError:  # a reload with ``allow_lost_fields`` lost all of them
            columns = {}
        return _MEMBER % to_json(columns or {})


def check_own_columns(engine: Engine) -> None:
    """Raise SettingsError for a dataset without own columns."""
    if not state_of(engine).dataset.schema.own:
        raise SettingsError(str(unknown_field(OWN, "--own")))
