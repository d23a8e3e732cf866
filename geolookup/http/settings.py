"""The settings of a server, in one place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from geolookup.mirrors.polling import Polling

if TYPE_CHECKING:
    from geolookup.store.requirements import OnStale

#: Maximum bytes of the request line and headers; a larger head is answered with 431.
HEAD_LIMIT = 16_384


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server, as ``geolookup serve`` takes them."""

    #: URL of the account store, ``sqlite:///PATH`` or ``redis://HOST:PORT/NUMBER``.
    accounts: str
    #: A dataset directory or a store; None as in ``geolookup.open``.
    dataset: str | None = None
    #: Address of a mirror that the store ``dataset`` follows; None: none.
    follow: str | None = None
    #: How it is polled: the options of ``geolookup follow``.
    polling: Polling = field(default_factory=Polling)
    #: As in ``geolookup.open``.
    watch: float | None = None
    max_age: str | None = None
    on_stale: OnStale = "warn"
    allow_lost_fields: bool = False
    #: A TOML file of plans; None: the built-in ones.
    plans: str | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    #: Maximum number of open connections of each worker; None: by the limit of descriptors.
    connections: int | None = None
    #: Networks of proxies whose forwarding headers are trusted, in CIDR notation.
    trusted_proxies: tuple[str, ...] = ()
    #: ``HOST:PORT`` of the admin port; None: no admin port.
    admin: str | None = None
    access_log: bool = False
    log_level: str = "info"
    #: PEM files; both or none.
    tls_certificate: str | None = None
    tls_key: str | None = None
    #: Seconds during which requests are answered with ``Connection: close`` after SIGTERM.
    drain: float = 3.0
