"""The application, which registers the system check."""

from __future__ import annotations

from django.apps import AppConfig
from django.core.checks import register

from geolookup.integrations.django.checks import check_settings


class GeolookupConfig(AppConfig):
    """The application ``geolookup``; it has no models."""

    name = "geolookup.integrations.django"
    label = "geolookup"

    def ready(self) -> None:
        """Register the check."""
        register(check_settings)
