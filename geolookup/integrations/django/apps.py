"""The application of Django, its setting GEOLOOKUP and its check, and the engine of the process.

Strategy: names of the setting are the parameters of ``geolookup.open`` in upper case, DATASET for
its path, and TRUSTED_PROXIES. Middleware and stand-ins share one engine, opened on first
use; a test that overrides the setting gets another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from inspect import signature
from os import PathLike
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.signals import setting_changed
from django.dispatch import receiver

import geolookup
from geolookup.contract.proxies import TrustedProxies
from geolookup.errors import PathError, SettingsError, near_match
from geolookup.integrations.client import Clients

if TYPE_CHECKING:
    from geolookup.engine import Engine

NAME = "GEOLOOKUP"
_SETTING, _DATASET = "geolookup.E001", "geolookup.E002"
_PROXIES = "TRUSTED_PROXIES"
#: Parameters of ``geolookup.open`` by name.
_PARAMETERS = {name.upper(): name for name in signature(geolookup.open).parameters}
_PARAMETERS["DATASET"] = _PARAMETERS.pop("PATH")


class Configuration(NamedTuple):
    """The setting, read: parameters of ``geolookup.open``, and networks."""

    parameters: dict[str, Any]
    trusted_proxies: Iterable[object]

    def open(self) -> Engine:
        """Open the dataset. Raises as ``geolookup.open``."""
        return geolookup.open(**self.parameters)

    def clients(self, engine: Engine) -> Clients:
        """Return the answers for clients from an engine."""
        return Clients(engine, self.trusted_proxies, setting=f"{NAME}[{_PROXIES!r}]")

    def check(self) -> None:
        """Raise the errors of ``open``, without reading the data."""
        TrustedProxies(self.trusted_proxies, setting=f"{NAME}[{_PROXIES!r}]")
        with self._replace(parameters={**self.parameters, "preload": False}).open():
            pass


def read() -> Configuration:
    """Read the setting; SettingsError for a wrong type, an unknown name, or a malformed DATASET."""
    values = getattr(settings, NAME, {})
    if not isinstance(values, Mapping):
        raise SettingsError(f'{NAME} is not a dict; write it like {{"DATASET": "/srv/geo"}}')
    for name in values:
        if name not in _PARAMETERS and name != _PROXIES:
            hint = near_match(name, [*_PARAMETERS, _PROXIES])
            raise SettingsError(f"{NAME} has an unknown name {name!r}; {hint}")
    dataset = values.get("DATASET")
    if not isinstance(dataset, (str, PathLike, NoneType)):
        raise SettingsError(f"{NAME}['DATASET'] {dataset!r} is not a path; write it as a text")
    parameters = {_PARAMETERS[name]: values[name] for name in values if name != _PROXIES}
    return Configuration(parameters, values.get(_PROXIES, ()))


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


class GeolookupConfig(AppConfig):
    """The application ``geolookup``; it has no models."""

    name = "geolookup.integrations.django"
    label = "geolookup"

    def ready(self) -> None:
        """Register the check."""
        register(check_settings)


def check_settings(**_options: object) -> list[CheckMessage]:
    """Return the errors of the setting GEOLOOKUP and its dataset.

    ``geolookup.E001``: an unknown name or a wrong value. ``geolookup.E002``: a dataset that is
    missing, damaged, of another version or too old. The dataset is opened, not read.
    """
    try:
        read().check()
    except SettingsError as error:
        return [Error(str(error), id=_SETTING)]
    except (ValueError, TypeError) as error:
        return [Error(f"{NAME}: {error}", id=_SETTING)]
    # Of a dataset or a key file, of an overlay that does not compile, or of the cache.
    except PathError as error:
        return [Error(str(error), id=_DATASET)]
    return []
