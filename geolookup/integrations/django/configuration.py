"""The setting GEOLOOKUP, and the engine of the process.

Strategy: names of the setting are the parameters of ``geolookup.open`` in upper case, DATASET for
its path, and TRUSTED_PROXIES. Middleware and stand-ins share one engine, opened on first
use; a test that overrides the setting gets another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from os import PathLike
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

from django.conf import settings
from django.core.signals import setting_changed
from django.dispatch import receiver

import geolookup
from geolookup.contract.proxies import TrustedProxies
from geolookup.errors import SettingsError, near_match
from geolookup.integrations.client import Clients

if TYPE_CHECKING:
    from geolookup.engine import Engine

NAME = "GEOLOOKUP"
_PROXIES = "TRUSTED_PROXIES"
#: Parameters of ``geolookup.open`` by name.
_PARAMETERS = {
    "DATASET": "path",
    "WATCH": "watch",
    "MAX_AGE": "max_age",
    "ON_STALE": "on_stale",
    "ALLOW_LOST_FIELDS": "allow_lost_fields",
    "FALLBACK": "fallback",
    "PRELOAD": "preload",
}


class Configuration(NamedTuple):
    """The setting, read: parameters of ``geolookup.open``, and networks."""

    parameters: dict[str, Any]
    trusted_proxies: Iterable[object]

    def open(self) -> Engine:
        """Open the dataset; raises what ``geolookup.open`` raises."""
        return geolookup.open(**self.parameters)

    def clients(self, engine: Engine) -> Clients:
        """Return the answers for clients from an engine."""
        return Clients(engine, self.trusted_proxies, setting=f"{NAME}[{_PROXIES!r}]")

    def check(self) -> None:
        """Raise what opening would raise, and read nothing."""
        TrustedProxies(self.trusted_proxies, setting=f"{NAME}[{_PROXIES!r}]")
        with self._replace(parameters={**self.parameters, "preload": False}).open():
            pass


def read() -> Configuration:
    """Read the setting; SettingsError for another type, an unknown name, or what is no path."""
    given = getattr(settings, NAME, {})
    if not isinstance(given, Mapping):
        raise SettingsError(f'{NAME} is not a dict; write it like {{"DATASET": "/srv/geo"}}')
    for name in given:
        if name not in _PARAMETERS and name != _PROXIES:
            hint = near_match(name, [*_PARAMETERS, _PROXIES])
            raise SettingsError(f"{NAME} has an unknown name {name!r}; {hint}")
    dataset = given.get("DATASET")
    if not isinstance(dataset, (str, PathLike, NoneType)):
        raise SettingsError(f"{NAME}['DATASET'] {dataset!r} is not a path; write it as a text")
    parameters = {_PARAMETERS[name]: given[name] for name in given if name != _PROXIES}
    return Configuration(parameters, given.get(_PROXIES, ()))


@cache
def engine() -> Engine:
    """Return the engine of the process."""
    return read().open()


@cache
def clients() -> Clients:
    """Return the answers for clients, from the engine of the process."""
    return read().clients(engine())


@receiver(setting_changed)
def _forget(*, setting: str, **_more: object) -> None:
    if setting == NAME:
        engine.cache_clear()
        clients.cache_clear()
