"""The settings of a server, in one place, and the limit of open connections.

Strategy: each connection is a file descriptor, so the limit of the process bounds their number.
Granian accepts no connection beyond its limit: the next one waits until another is closed.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from geolookup.errors import SettingsError

#: Maximum bytes of the request line and headers; a larger head is answered with 431.
HEAD_LIMIT = 16_384


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server: the options of ``geolookup serve``."""

    #: URL of the account store, ``sqlite:///PATH`` or ``redis://HOST:PORT/NUMBER``.
    accounts: str
    #: A dataset directory or a store; None as in ``geolookup.open``.
    dataset: str | None = None
    #: Other options of ``geolookup.open``; the service sets ``fallback`` and ``preload``.
    opening: Mapping[str, Any] = field(default_factory=dict)
    #: Answers have the own columns of the dataset.
    own: bool = False
    #: A TOML file of plans; None: the built-in ones.
    plans: str | os.PathLike[str] | None = None
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    #: Maximum number of open connections of each worker; None: by the limit of descriptors.
    connections: int | None = None
    #: Networks of proxies whose forwarding headers are trusted, in CIDR notation.
    trusted_proxies: tuple[str, ...] = ()
    #: Origins whose pages may read answers (CORS), or ``*``.
    cors: tuple[str, ...] = ()
    #: ``HOST:PORT`` of the admin port; None: no admin port.
    admin: str | None = None
    access_log: bool = False
    log_level: str = "info"
    #: PEM files; both or none.
    tls_certificate: str | None = None
    tls_key: str | None = None
    #: Seconds during which requests are answered with ``Connection: close`` after SIGTERM.
    drain: float = 3.0


#: Milliseconds until a connection without a complete request head is closed; a connection
#: between two requests too.
HEAD_TIMEOUT = 5_000
#: Milliseconds until a connection is closed whose client does not read its answers.
STALL_TIMEOUT = 5_000
#: Bytes of the send buffer and of the receive buffer of a connection; Linux reserves twice that.
BUFFER = 32_768
#: Descriptors for everything else: sockets that listen, the dataset, the accounts, a reload.
_RESERVE = 128
#: The limit if the limit of descriptors is higher. An idle connection takes about 3 KiB of memory,
#: one with an incomplete head up to 32 KiB.
_MOST = 16_384


def connections(limit: int | None) -> int:
    """Return the limit of each worker; ``limit`` or the default.

    Raises the soft limit of descriptors to the hard one; the workers inherit it. Raises
    SettingsError if that allows fewer connections than are wanted.
    """
    possible = _descriptors() - _RESERVE
    if limit is None:
        return max(1, min(possible, _MOST))
    if limit > possible:
        raise SettingsError(
            f"--connections {limit}: this process can open {possible + _RESERVE} files and needs"
            f" {_RESERVE} of them itself; raise the limit of open files (ulimit -n, LimitNOFILE)"
        )
    return limit


def _descriptors() -> int:
    """Raise the soft limit of descriptors to the hard one, and return it."""
    import resource  # absent on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # macOS refuses a soft limit without bound
        hard = soft
    # Without bound: more than there can be connections.
    return 1 << 20 if hard == resource.RLIM_INFINITY else hard
