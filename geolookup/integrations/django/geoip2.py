"""A stand-in for ``django.contrib.gis.geoip2``; needs the extra ``geoip2``.

Strategy: Django's own class calls a reader, here one with the same methods on a dataset. Methods,
keys, exceptions and the treatment of host names come from the installed Django.
"""

from __future__ import annotations

import os

from django.contrib.gis import geoip2
from django.contrib.gis.geoip2 import HAS_GEOIP2, GeoIP2Exception
from django.utils.functional import cached_property

from geolookup.compat.geoip2 import Reader
from geolookup.errors import GeoLookupError
from geolookup.integrations.django import engine

__all__ = ["HAS_GEOIP2", "GeoIP2", "GeoIP2Exception"]


class GeoIP2(geoip2.GeoIP2):
    """Django's ``GeoIP2`` on a dataset.

    ``path`` is a dataset directory or a store; None: the shared dataset of the setting GEOLOOKUP.
    ``cache`` must be one of Django's options and has no effect. The names of files, ``country``
    and ``city``, have no effect either. Raises GeoIP2Exception if the dataset cannot be opened.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        cache: int = 0,
        country: str | None = None,
        city: str | None = None,
    ) -> None:
        if cache not in self.cache_options:
            raise GeoIP2Exception(f"Invalid GeoIP caching option: {cache}")
        try:
            shared = engine() if path is None else None
            self._reader = Reader(shared or path)
            self._path = shared.path if shared else path
        except (GeoLookupError, ValueError, TypeError) as error:
            raise GeoIP2Exception(str(error)) from error

    @cached_property
    def is_country(self) -> bool:
        """Whether the dataset has countries and no cities."""
        return not self.is_city and super().is_country
