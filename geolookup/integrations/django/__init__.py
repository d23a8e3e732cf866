"""For Django: ``request.geo``, the setting GEOLOOKUP, and a stand-in for ``GeoIP2``.

In the settings, add ``"geolookup.integrations.django.GeoMiddleware"`` to MIDDLEWARE.

Strategy: names of the setting are the parameters of ``geolookup.open`` in upper case, DATASET for
its path, and TRUSTED_PROXIES. Middleware and stand-ins share one engine, opened on first
use; a test that overrides the setting gets another one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.core.signals import setting_changed
from django.dispatch import receiver

import geolookup
from geolookup.errors import SettingsError, near_match
from geolookup.integrations.middleware import ClientAnswer, Middleware, client_of

if TYPE_CHECKING:
    from django.http import HttpRequest

    from geolookup.engine import Engine

NAME = "GEOLOOKUP"
_PROXIES = "TRUSTED_PROXIES"
#: Parameters of ``geolookup.open`` by name.
_PARAMETERS = {name.upper(): name for name in signature(geolookup.open).parameters}
_PARAMETERS["DATASET"] = _PARAMETERS.pop("PATH")


def _read() -> Mapping[str, Any]:
    """Return the setting; raises SettingsError for a wrong type or an unknown name."""
    values = getattr(settings, NAME, {})
    if not isinstance(values, Mapping):
        raise SettingsError(f'{NAME} is not a dict; write it like {{"DATASET": "/srv/geo"}}')
    for name in values:
        if name not in _PARAMETERS and name != _PROXIES:
            hint = near_match(name, [*_PARAMETERS, _PROXIES])
            raise SettingsError(f"{NAME} has an unknown name {name!r}; {hint}")
    return values


@cache
def engine() -> Engine:
    """Return the engine of the process."""
    values = _read()
    return geolookup.open(
        **{_PARAMETERS[name]: values[name] for name in values if name != _PROXIES}
    )


@receiver(setting_changed)
def _forget(*, setting: str, **_more: object) -> None:
    if setting == NAME:
        engine.cache_clear()


class GeoMiddleware(Middleware):
    """Sets ``request.geo``, a ``geolookup.integrations.middleware.ClientAnswer``.

    Sync and async. The setting GEOLOOKUP has the dataset and the trusted proxies. Raises
    SettingsError and the errors of ``geolookup.open`` when the application starts.
    """

    sync_capable = async_capable = True
    _setting = f"{NAME}[{_PROXIES!r}]"

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        super().__init__(get_response, engine(), trusted_proxies=_read().get(_PROXIES, ()))
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        """Pass a request on; the result is a response, or a coroutine that returns one."""
        client = client_of(request.META)
        request.geo = ClientAnswer(self, *client)  # type: ignore[attr-defined]
        return self._app(request)
