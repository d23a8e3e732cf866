"""Django, set up once: with the middleware, and one view that shows its value."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Importing Django takes as long as all fast tests of a folder may."""
    for item in items:
        if "tests/integrations/django/" in item.nodeid:
            item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session", autouse=True)
def _django() -> None:
    django = pytest.importorskip("django")
    from django.conf import settings

    if not settings.configured:
        settings.configure(
            ROOT_URLCONF="tests.integrations.django.urls",
            ALLOWED_HOSTS=["testserver"],
            MIDDLEWARE=["geolookup.integrations.django.GeoMiddleware"],
            USE_TZ=True,
        )
        django.setup()
