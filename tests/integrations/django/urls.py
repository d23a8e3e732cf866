"""Views that show the value of the middleware."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template import Context, Engine
from django.urls import path


def show(request: Any) -> JsonResponse:
    return JsonResponse({"ip": request.geo.ip, "code": request.geo.error_code})


async def show_async(request: Any) -> JsonResponse:
    return show(request)


def render_site(request: HttpRequest) -> HttpResponse:
    template = Engine().from_string("{{ request.geo.own.site_id }} {{ request.geo.error_code }}")
    return HttpResponse(template.render(Context({"request": request})))


urlpatterns = [
    path("", show),
    path("async", show_async),
    path("site", render_site),
]
