"""The system check: a wrong setting or an unusable dataset is one line that says what to do."""

from __future__ import annotations

from django.core.checks import CheckMessage, Error

from geolookup.errors import DatasetError, SettingsError
from geolookup.integrations.django import configuration

_SETTING, _DATASET = "geolookup.E001", "geolookup.E002"


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
