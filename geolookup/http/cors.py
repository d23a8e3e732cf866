"""Cross-origin requests: which pages of other origins may read the answers (Fetch, section 3.3).

Strategy: a browser asks before it sends ``X-API-Key`` to another origin. That preflight request has
no key, so it is answered without admission. Each answer then names the origin that may read it.

Example: ``--cors https://app.example``. The preflight has ``Origin: https://app.example`` and
``Access-Control-Request-Method: GET``; the answer is 204 and allows both the origin and the header.
Without the allowed origin in an answer, the browser hides the answer from the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from geolookup.errors import SettingsError
from geolookup.http.answers import METHODS, PREFLIGHT, Answer, Header
from geolookup.http.requests import Headers, only_line

#: Every preflight request has these headers.
_PREFLIGHT_HEADERS = ("origin", "access-control-request-method")
ANY = "*"
_EXAMPLE = "https://app.example"
#: As browsers write it (HTML, section 7.1.1): a scheme, a host in Punycode with a letter or digit,
#: and a port unless it is the one of the scheme.
_ORIGIN = re.compile(
    r"(?!http://.*:80$|https://.*:443$)"
    r"[a-z][a-z0-9+.-]*://(?:[a-z0-9._-]*[a-z0-9]|\[[0-9a-f:.]+\])(?::[1-9][0-9]{,4})?"
)
_ALLOW_ORIGIN = "Access-Control-Allow-Origin"
_VARY: Header = ("Vary", "Origin")
#: Headers of an answer that a page may read, beside those that every page may read.
_EXPOSE: Header = (
    "Access-Control-Expose-Headers",
    "Retry-After, X-Dataset-Generation, X-Dataset-Stale",
)
#: Two hours: Chromium keeps a preflight no longer.
_PREFLIGHT: tuple[Header, ...] = (
    ("Access-Control-Allow-Methods", METHODS),
    ("Access-Control-Allow-Headers", "X-API-Key"),
    ("Access-Control-Max-Age", "7200"),
)


class Origins:
    """The origins whose pages may read answers; ``*`` is any. Raises SettingsError."""

    def __init__(self, origins: Iterable[str]) -> None:
        self._known = frozenset(origins)
        self._is_any = ANY in self._known
        for origin in self._known - {ANY}:
            if _ORIGIN.fullmatch(origin) is None:
                raise SettingsError(
                    f"--cors {origin!r} is not an origin; write it as browsers do, like {_EXAMPLE}:"
                    " in lower case, without the usual port, a path or a slash at the end"
                )

    def headers(self, request: Headers) -> list[Header]:
        """Return the headers that every answer to a request gets."""
        if self._is_any:
            return [(_ALLOW_ORIGIN, "*"), _EXPOSE]
        origin = self._origin_to_allow(request)
        return [_VARY] if origin is None else [(_ALLOW_ORIGIN, origin), _EXPOSE, _VARY]

    def preflight(self, method: str, request: Headers) -> Answer | None:
        """Return the answer to a preflight request, without ``headers``; None for others.

        If the origin is not allowed, the answer allows nothing.
        """
        if method != "OPTIONS" or not all(name in request for name in _PREFLIGHT_HEADERS):
            return None
        is_allowed = self._is_any or self._origin_to_allow(request) is not None
        return PREFLIGHT, list(_PREFLIGHT) if is_allowed else [], b""

    def _origin_to_allow(self, request: Headers) -> str | None:
        """Return the origin of a request if it is one of ours, written exactly so."""
        origin = only_line(request, "origin")
        return origin if origin in self._known else None
