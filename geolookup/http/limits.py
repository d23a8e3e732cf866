"""How many connections a worker holds open, and how long it waits for a request.

Strategy: each connection is a file descriptor, so the limit follows from that of the process.
Granian accepts no connection beyond its limit: the next one waits until another is closed.
"""

from __future__ import annotations

import resource

from geolookup.errors import SettingsError

#: Milliseconds until a connection without a complete request head is closed; a connection
#: between two requests too.
HEAD_TIMEOUT = 5_000
#: Descriptors for everything else: sockets that listen, the dataset, the accounts, a reload.
_RESERVE = 128
#: The limit where that of descriptors is higher. An idle connection takes about 3 KiB of memory,
#: one with an incomplete head up to 32 KiB.
_MOST = 16_384


def connections(wanted: int | None) -> int:
    """Return the limit of each worker; ``wanted`` or the default.

    Raises the soft limit of descriptors to the hard one, which the workers inherit. Raises
    SettingsError if that allows fewer connections than are wanted.
    """
    possible = _descriptors() - _RESERVE
    if wanted is None:
        return max(1, min(possible, _MOST))
    if wanted > possible:
        raise SettingsError(
            f"--connections {wanted}: a process may open {possible + _RESERVE} files here, of which"
            f" {_RESERVE} are not connections; raise that limit (ulimit -n, LimitNOFILE)"
        )
    return wanted


def _descriptors() -> int:
    """Raise the soft limit of descriptors to the hard one, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except (OSError, ValueError):  # macOS refuses a soft limit without bound
        hard = soft
    # Without bound: more than there can be connections.
    return 1 << 20 if hard == resource.RLIM_INFINITY else hard
