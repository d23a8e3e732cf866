"""An application of Django: ``request.geo``, a system check, a stand-in for ``GeoIP2``.

In the settings, add ``"geolookup.integrations.django"`` to INSTALLED_APPS, for the check,
and ``"geolookup.integrations.django.GeoMiddleware"`` to MIDDLEWARE.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction

from geolookup.integrations.django.apps import clients
from geolookup.integrations.middleware import client_of

if TYPE_CHECKING:
    from django.http import HttpRequest


class GeoMiddleware:
    """Sets ``request.geo``, a ``geolookup.integrations.client.ClientAnswer``.

    Sync and async. The setting GEOLOOKUP has the dataset and the trusted proxies. Raises
    DatasetError or SettingsError when the application starts, as the system check reports.
    """

    sync_capable = async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self._get_response = get_response
        self._clients = clients()
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        """Pass a request on; the result is a response, or a coroutine that returns one."""
        request.geo = self._clients.answer(*client_of(request.META))  # type: ignore[attr-defined]
        return self._get_response(request)
