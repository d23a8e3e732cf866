"""The application of Django: middleware, the setting GEOLOOKUP and its check, and one engine.

Strategy: names of the setting are the parameters of ``geolookup.open`` in upper case, DATASET for
its path, and TRUSTED_PROXIES. Middleware and stand-ins share one engine, opened on first
use; a test that overrides the setting gets another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, register
from django.core.signals import setting_changed
from django.dispatch import receiver

import geolookup
from geolookup.contract.proxies import TrustedProxies
from geolookup.errors import PathError, SettingsError, near_match
from geolookup.integrations.middleware import ClientAnswer, Middleware, client_of

if TYPE_CHECKING:
    from django.http import HttpRequest

    from geolookup.engine import Engine

NAME = "GEOLOOKUP"
_SETTING, _DATASET = "geolookup.E001", "geolookup.E002"
_PROXIES = "TRUSTED_PROXIES"
_PROXIES_SETTING = f"{NAME}[{_PROXIES!r}]"
#: Parameters of ``geolookup.open`` by name.
_PARAMETERS = {name.upper(): name for name in signature(geolookup.open).parameters}
_PARAMETERS["DATASET"] = _PARAMETERS.pop("PATH")


def _read() -> tuple[dict[str, Any], Iterable[object]]:
    """Return the parameters of ``geolookup.open`` and the networks of the setting.

    Raises SettingsError for a wrong type or an unknown name.
    """
    values = getattr(settings, NAME, {})
    if not isinstance(values, Mapping):
        raise SettingsError(f'{NAME} is not a dict; write it like {{"DATASET": "/srv/geo"}}')
    for name in values:
        if name not in _PARAMETERS and name != _PROXIES:
            hint = near_match(name, [*_PARAMETERS, _PROXIES])
            raise SettingsError(f"{NAME} has an unknown name {name!r}; {hint}")
    parameters = {_PARAMETERS[name]: values[name] for name in values if name != _PROXIES}
    return parameters, values.get(_PROXIES, ())


@cache
def engine() -> Engine:
    """Return the engine of the process."""
    return geolookup.open(**_read()[0])


@receiver(setting_changed)
def _forget(*, setting: str, **_more: object) -> None:
    if setting == NAME:
        engine.cache_clear()


class GeoMiddleware(Middleware):
    """Sets ``request.geo``, a ``geolookup.integrations.middleware.ClientAnswer``.

    Sync and async. The setting GEOLOOKUP has the dataset and the trusted proxies. Raises
    DatasetError or SettingsError when the application starts, as the system check reports.
    """

    sync_capable = async_capable = True
    _setting = _PROXIES_SETTING

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        super().__init__(get_response, engine(), trusted_proxies=_read()[1])
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        """Pass a request on; the result is a response, or a coroutine that returns one."""
        client = client_of(request.META)
        request.geo = ClientAnswer(self, *client)  # type: ignore[attr-defined]
        return self._app(request)


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
        parameters, proxies = _read()
        TrustedProxies(proxies, setting=_PROXIES_SETTING)
        geolookup.open(**{**parameters, "preload": False}).close()
    except SettingsError as error:
        return [Error(str(error), id=_SETTING)]
    except (ValueError, TypeError) as error:
        return [Error(f"{NAME}: {error}", id=_SETTING)]
    # Of a dataset or a key file, of an overlay that does not compile, or of the cache.
    except PathError as error:
        return [Error(str(error), id=_DATASET)]
    return []
