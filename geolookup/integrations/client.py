"""The answer for the client of a request, for any framework.

Strategy: a request gets an object with the peer and the headers. The client is determined and
looked up when the application first reads the answer; a request that never reads it costs no
lookup. A failure does not reach the application: it is logged, and the answer is false, as for an
address that cannot be located.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from time import monotonic
from typing import TYPE_CHECKING, Any

import geolookup
from geolookup.contract.proxies import Headers, TrustedProxies
from geolookup.errors import ClosedError, DatasetError
from geolookup.kernel.answers import members

if TYPE_CHECKING:
    from geolookup.engine import Engine
    from geolookup.kernel.python_answer import Answer
else:
    Answer = object  # only for type checkers: the attributes are read from the answer

#: Seconds between two log lines about failures: every request may cause one.
_LOG_INTERVAL = 1.0
_log = logging.getLogger("geolookup")


class Clients:
    """Answers for the clients of requests: an engine, and the proxies that are trusted.

    ``engine`` None opens the dataset of ``geolookup.open()`` at once: a missing dataset shows when
    the application starts. Raises what ``geolookup.open`` raises, and SettingsError
    for malformed ``trusted_proxies``.
    """

    def __init__(
        self,
        engine: Engine | None,
        trusted_proxies: Iterable[object],
        *,
        setting: str = "trusted_proxies",
    ) -> None:
        self._proxies = TrustedProxies(trusted_proxies, setting=setting)
        self._engine = geolookup.open() if engine is None else engine
        self._unavailable = Unavailable(self._engine)
        self._next_log = 0.0

    def answer(self, peer: str, headers: Headers) -> ClientAnswer:
        """Return the answer for a client, to be looked up when it is read.

        ``peer`` is the address of the connection's other end, empty for a Unix socket.
        """
        return ClientAnswer(self, peer, headers)

    def look_up(self, peer: str, headers: Headers) -> Any:
        """Return the answer for a client now."""
        answer = self._engine.answer(self._proxies.caller(peer, headers))
        # A row is checked when a member of it is read: read one of each row here, where a damaged
        # one does no harm.
        _ = answer.location.country_code, answer.location.city_name
        _ = answer.time.zone, answer.network.isp
        members(answer.own)
        return answer

    def unavailable(self, error: Exception) -> Unavailable:
        """Return the answer after a failure, and log that, at most once a second."""
        if monotonic() >= self._next_log:
            self._next_log = monotonic() + _LOG_INTERVAL
            _log.error("%s", error)
        return self._unavailable


class ClientAnswer(Answer):
    """The ``Answer`` for the client of a request, with all its attributes, looked up on demand.

    False, with ``error_code`` 10001 or 10002, if the client has no public address: own columns may
    be known of a private one. False with
    ``error_code`` None if the dataset cannot be used. The representation does not contain the
    address.
    """

    __slots__ = ("_answer", "_client", "_clients")

    def __init__(self, clients: Clients, *client: Any) -> None:
        self._answer: Any = None
        self._clients, self._client = clients, client

    if not TYPE_CHECKING:  # type checkers know the attributes of Answer, and report any other

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):  # copy and pickle look for special methods
                raise AttributeError(name)
            return self._read(lambda answer: getattr(answer, name))

    def __bool__(self) -> bool:
        return bool(self._read(bool))

    def __repr__(self) -> str:
        return "<geolookup.integrations.client.ClientAnswer>"

    def _read(self, read: Callable[[Any], Any]) -> Any:
        try:
            if self._answer is None:
                self._answer = self._clients.look_up(*self._client)
            return read(self._answer)
        except (ClosedError, DatasetError) as error:
            self._answer = self._clients.unavailable(error)
            return read(self._answer)


class Unavailable:
    """The answer of an engine that cannot answer: no value is known, and no error of the contract.

    It has the members of the answer for a malformed address.
    """

    success = False
    error_code = None
    error_message = "the dataset cannot be used; see the log 'geolookup'"

    def __init__(self, engine: Engine) -> None:
        self._members: Any = engine.answer("")

    def __bool__(self) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._members, name)

    def to_dict(self) -> dict[str, Any]:
        """Return an envelope without data, with the message of this error."""
        envelope: dict[str, Any] = self._members.to_dict()
        return {**envelope, "error_code": None, "error_message": self.error_message}
