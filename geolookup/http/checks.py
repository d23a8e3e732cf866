"""Checks before the start, once rather than in each worker: settings, dataset, accounts, ports."""

from __future__ import annotations

import logging
import socket

import geolookup
from geolookup.contract.address import is_address
from geolookup.contract.fields import OWN
from geolookup.contract.paths import unknown_field
from geolookup.contract.proxies import TrustedProxies
from geolookup.errors import SettingsError
from geolookup.gate import open_accounts
from geolookup.http.cors import Origins
from geolookup.http.settings import Settings, allow_connections
from geolookup.kernel.lookups import state_of

_log = logging.getLogger("geolookup.http")


def check(settings: Settings) -> None:
    """Raise SettingsError, DatasetError, AccountsError or PlansError if no worker can start."""
    TrustedProxies(settings.trusted_proxies, setting="--trusted-proxy")
    Origins(settings.cors)
    if (settings.tls_certificate is None) != (settings.tls_key is None):
        raise SettingsError("TLS needs both; give --tls-certificate and --tls-key")
    allow_connections(settings.connections)
    _check_stores(settings)
    if not is_address(settings.host):
        raise SettingsError(f"--host {settings.host!r}: write an IP address, like 127.0.0.1 or ::")
    # Granian lets several servers share a port, so a second one started by mistake would receive
    # half of the requests.
    bound(settings.host, settings.port, f"{settings.host} port {settings.port}").close()


def _check_stores(settings: Settings) -> None:
    opening = {**settings.opening, "watch": None}
    with (
        geolookup.open(settings.dataset, **opening, fallback=True) as engine,
        open_accounts(settings.accounts, settings.plans) as accounts,
    ):
        if settings.own and not state_of(engine).dataset.schema.own:
            raise SettingsError(str(unknown_field(OWN, "--own")))
        accounts.usage()
        warning = accounts.check_durability()
        if warning is not None:
            _log.warning("%s", warning)


def bound(host: str, port: int, name: str) -> socket.socket:
    """Return a socket bound to an address, that does not listen yet.

    Raises SettingsError with ``name`` if the address is in use or is not of this machine.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        # Else connections in TIME_WAIT, of a server that has ended, would occupy the port.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
    except (OSError, TypeError) as error:  # TypeError: not a name of a host
        listener.close()
        problem = getattr(error, "strerror", None) or error
        raise SettingsError(f"{name}: {problem}; choose another") from None
    return listener
