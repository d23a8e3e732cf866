"""The application and its system check: what is wrong is one line that says what to do."""

from __future__ import annotations

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error, register

from geolookup.errors import DatasetError, SettingsError
from geolookup.integrations.django import configuration

_SETTING, _DATASET = "geolookup.E001", "geolookup.E002"


class GeolookupConfig(AppConfig):
    """The application ``geolookup``; it has no models."""

    name = "geolookup.integrations.django"
    label = "geolookup"

    def ready(self) -> None:
        """Register the check."""
        register(check_settings)


def check_settings(**_options: object) -> list[CheckMessage]:
    """Return what is wrong with the setting GEOLOOKUP and its dataset.

    ``geolookup.E001``: an unknown name or a wrong value. ``geolookup.E002``: a dataset that is
    missing, damaged, of another version or too old. The dataset is opened, not read.
    """
    try:
        configuration.read().check()
    except SettingsError as error:
        return [Error(str(error), id=_SETTING)]
    except (ValueError, TypeError) as error:
        return [Error(f"{configuration.NAME}: {error}", id=_SETTING)]
    except DatasetError as error:
        return [Error(str(error), id=_DATASET)]
    return []
