"""Django's own applications for real servers, in a process of their own."""

from __future__ import annotations

import django
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application

settings.configure(
    ROOT_URLCONF="tests.integrations.django.urls",
    ALLOWED_HOSTS=["x"],
    MIDDLEWARE=["geolookup.integrations.django.GeoMiddleware"],
    GEOLOOKUP={"TRUSTED_PROXIES": ["127.0.0.0/8", "unix:"], "WATCH": 60},
    USE_TZ=True,
)
django.setup()
wsgi = get_wsgi_application()
asgi = get_asgi_application()
