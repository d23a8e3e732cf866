"""The settings of a server, in one place: options of ``geolookup serve``, and what few change.

Strategy: the latter are environment variables, read when the settings are made.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from geolookup.errors import SettingsError

#: Maximum bytes of the request line and headers; a larger head is answered with 431.
HEAD_LIMIT = 16_384
#: Milliseconds until a connection without a complete request head is closed; a connection
#: between two requests too.
HEAD_TIMEOUT = 5_000
#: Milliseconds until a connection is closed whose client does not read its answers.
STALL_TIMEOUT = 5_000
#: Bytes of the send buffer and of the receive buffer of a connection; Linux reserves twice that.
BUFFER = 32_768
#: Descriptors for everything else: sockets that listen, the dataset, the accounts, a reload.
_RESERVE = 128


def _variable(
    name: str, default: str, pattern: str, read: Callable[[str], object], form: str
) -> Any:
    """Return a field of ``Settings`` whose default is an environment variable."""

    def value() -> object:
        text = os.environ.get(name) or default
        if re.fullmatch(pattern, text, re.ASCII) is None:
            raise SettingsError(f"{name}={text}: write {form}")
        return read(text)

    return field(default_factory=value)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server."""

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
    #: Networks of proxies whose forwarding headers are trusted, in CIDR notation.
    trusted_proxies: tuple[str, ...] = ()
    #: Origins whose pages may read answers (CORS), or ``*``.
    cors: tuple[str, ...] = ()
    #: ``HOST:PORT`` of the admin port; None: no admin port.
    admin: str | None = None
    access_log: bool = False
    #: PEM files; both or none.
    tls_certificate: str | None = None
    tls_key: str | None = None
    #: Open connections of each worker. An idle one takes about 3 KiB of memory, one with an
    #: incomplete head up to 32 KiB.
    connections: int = _variable("GEOLOOKUP_CONNECTIONS", "4096", r"[1-9]\d{,8}", int, "a number")
    #: Seconds during which requests are answered with ``Connection: close`` after SIGTERM.
    drain: float = _variable("GEOLOOKUP_DRAIN", "3", r"\d{1,8}(\.\d+)?", float, "seconds, like 10")
    #: Lowest level of the log lines on standard error.
    log_level: str = _variable(
        "GEOLOOKUP_LOG_LEVEL",
        "info",
        "debug|info|warning|error",
        str,
        "debug, info, warning or error",
    )
    #: Accept a new generation that lacks fields of the old one.
    allow_lost_fields: bool = _variable(
        "GEOLOOKUP_ALLOW_LOST_FIELDS", "0", "[01]", lambda text: text == "1", "0 or 1"
    )


def allow_connections(limit: int) -> None:
    """Raise the limit of open files if so many connections need it; the workers inherit it."""
    import resource  # absent on Windows

    needed = limit + _RESERVE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
    except (ValueError, OSError):
        raise SettingsError(
            f"GEOLOOKUP_CONNECTIONS={limit} needs {needed} open files and the limit is {hard}:"
            " raise it (ulimit -n, LimitNOFILE) or write a smaller number"
        ) from None
