"""Views that show what the middleware set."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import Context, Engine
from django.urls import path

_TEMPLATE = "{{ request.geo.location.country_code }} {% if request.geo %}known{% endif %}"


def shown(request: Any) -> JsonResponse:
    return JsonResponse({"ip": request.geo.ip, "code": request.geo.error_code})


async def shown_async(request: Any) -> JsonResponse:
    return shown(request)


def rendered(request: HttpRequest) -> HttpResponse:
    return HttpResponse(Engine().from_string(_TEMPLATE).render(Context({"request": request})))


urlpatterns = [path("", shown), path("async", shown_async), path("rendered", rendered)]
