"""An application of Django: ``request.geo``, a system check, a stand-in for ``GeoIP2``.

In the settings, add ``"geolookup.integrations.django"`` to INSTALLED_APPS, for the check,
and ``"geolookup.integrations.django.GeoMiddleware"`` to MIDDLEWARE.
"""

from geolookup.integrations.django.apps import GeoMiddleware

__all__ = ["GeoMiddleware"]
