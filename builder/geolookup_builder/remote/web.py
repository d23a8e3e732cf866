"""https: one request and what may follow from it (RFC 9110).

Strategy: redirects are followed by hand, so that each is looked at: never to plain http, and the
key only where scheme, host and port stay. No error holds an address with a key in it.
"""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http import HTTPStatus
from urllib.error import URLError
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from geolookup.errors import BuildError
from geolookup_builder.remote.address import KEY_PLACE, Remote, is_local
from geolookup_builder.remote.answer import Answer, Had, PassingError
from geolookup_builder.remote.headers import answered_range, coding, http_date, seconds, version
from geolookup_builder.remote.key import Key, key_of
from geolookup_builder.remote.limits import Limits

_MOST_REDIRECTS = 5
_REDIRECTS = {301, 302, 303, 307, 308}
_PASSING = {408, 425, 429, 500, 502, 503, 504}
_PAGES = {"text/html", "application/xhtml+xml"}
_CHUNK = 1 << 16


@contextmanager
def asked(remote: Remote, had: Had, limits: Limits) -> Iterator[Answer | None]:
    """Give the answer of the server while the block lasts; None where the kept file is current.

    Raises PassingError for what may pass, BuildError for what will not.
    """
    key = key_of(remote)
    with _response(remote, had, key, limits) as response:
        _check_status(remote, response)
        if response.status == HTTPStatus.NOT_MODIFIED:
            if had.kept is None or had.start:
                raise _failure(
                    remote, "says that a file is unchanged which is not here", "report it there"
                )
            yield None
        else:
            _check_headers(remote, response.headers)
            yield _answer(response, had, key)


def _response(
    remote: Remote, had: Had, key: Key | None, limits: Limits
) -> http.client.HTTPResponse:
    """Ask and follow redirects."""
    opener, headers = _opener(), _headers(had)
    origin = url = key.in_address(remote.uri) if key else remote.uri
    for _ in range(_MOST_REDIRECTS + 1):
        request = Request(_ascii(url), headers=headers)  # noqa: S310 (the scheme is checked)
        if key and KEY_PLACE not in remote.uri and _origin(url) == _origin(origin):
            request.add_header(*key.header(remote.key_as))
        response = _opened(remote, opener, request, limits)
        if response.status not in _REDIRECTS:
            return response
        with response:
            url = _next(remote, url, response.headers.get("Location", ""), key)
    raise _failure(
        remote, f"redirects over {_MOST_REDIRECTS} times", "correct the path in the recipe"
    )


def _opener() -> OpenerDirector:
    """Return what opens http and https, by the proxies of the environment, and nothing else.

    Without urllib's processors of errors, every status comes back as an answer.
    """
    opener = OpenerDirector()
    opener.addheaders = [("User-Agent", "geolookup")]
    # Without a context of ours, https has Python's default one, which checks certificates.
    for handler in (ProxyHandler(), HTTPHandler(), HTTPSHandler()):
        opener.add_handler(handler)
    return opener


def _headers(had: Had) -> dict[str, str]:
    """Return the headers that ask for the rest of a file, or for it only if it has changed."""
    headers = {"Accept-Encoding": "identity"}
    if had.start:
        headers |= {"Range": f"bytes={had.start}-", "If-Range": had.validator}
    elif had.kept is not None:
        if had.kept.etag:
            headers["If-None-Match"] = had.kept.etag
        if had.kept.modified:
            headers["If-Modified-Since"] = http_date(had.kept.modified)
    return headers


def _opened(
    remote: Remote, opener: OpenerDirector, request: Request, limits: Limits
) -> http.client.HTTPResponse:
    host = request.host
    try:
        response: http.client.HTTPResponse = opener.open(request, timeout=limits.silence)
    except (http.client.InvalidURL, UnicodeError):
        # The text of these would hold the address, key and all.
        raise BuildError(remote.shown, "is no address", remedy="correct the recipe") from None
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, ssl.SSLCertVerificationError):
            problem = f"the certificate of {host} is not valid ({reason.verify_message})"
            raise BuildError(remote.shown, problem, remedy="correct the path") from error
        # Without its cause, whose text may hold what the server sent.
        raise PassingError(f"{host} cannot be reached ({_reason(reason)})") from None
    return response


def _reason(error: object) -> str:
    """Return why a connection failed; what the server sent is left out, which may be anything."""
    if isinstance(error, TimeoutError):
        return "it sends nothing"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__


def _next(remote: Remote, url: str, location: str, key: Key | None) -> str:
    """Return where a redirect leads; BuildError where it is not to be followed."""
    remedy = "correct the path in the recipe"
    try:
        target = urljoin(url, location)
        parts = urlsplit(target)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not location or not host or "@" in parts.netloc or parts.scheme not in ("https", "http"):
        raise _failure(remote, "redirects to what is no address of the web", remedy)
    local = is_local(urlsplit(url).hostname) and is_local(host)
    if parts.scheme == "http" and (
        urlsplit(url).scheme != "http" or not (local or remote.insecure)
    ):
        raise _failure(remote, f"redirects to {host} without encryption", remedy)
    if key and _origin(target) != _origin(url) and key.is_in(target):
        raise _failure(remote, f"redirects to {host} with the key in the address", remedy)
    return target


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)


def _ascii(url: str) -> str:
    return quote(url, safe="/%:?#[]@!$&'()*+,;=~")


def _check_status(remote: Remote, response: http.client.HTTPResponse) -> None:
    status = response.status
    if status in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT, HTTPStatus.NOT_MODIFIED):
        return
    if status in _PASSING:
        wait = seconds(response.headers.get("Retry-After"))
        raise PassingError(f"the server answers {status}", wait=wait)
    if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        raise PassingError(f"the server answers {status}", discard=True)
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        stated = remote.key_env or remote.key_file
        remedy = (
            f"check the key in {stated}" if stated else "state key_env or key_file if it wants one"
        )
        raise _failure(remote, f"the server refuses access ({status})", remedy)
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        raise _failure(
            remote, f"no such file on the server ({status})", "correct the path in the recipe"
        )
    raise _failure(remote, f"the server answers {status}", "ask whoever runs it")


def _check_headers(remote: Remote, headers: Message) -> None:
    if "Content-Type" in headers and headers.get_content_type() in _PAGES:
        problem = "the server answered with an HTML page"
        raise _failure(remote, problem, "the key or the path may be wrong")
    if coding(headers) not in ("", "gzip"):
        problem = "the server packed the file in a way that was not asked for"
        raise _failure(remote, problem, "fetch it yourself")


def _answer(response: http.client.HTTPResponse, had: Had, key: Key | None) -> Answer:
    headers = response.headers
    start, total = answered_range(response.status, headers, had.start)
    return Answer(
        version=version(headers, key),
        chunks=_chunks(response, None if total is None else total - start),
        total=total,
        start=start,
        ends="chunked" in headers.get("Transfer-Encoding", "").lower(),
        coding=coding(headers),
    )


def _chunks(response: http.client.HTTPResponse, left: int | None) -> Iterator[bytes]:
    """Yield the body as it comes, up to its stated length."""
    while left is None or left > 0:
        try:
            chunk = response.read1(_CHUNK if left is None else min(_CHUNK, left))
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise PassingError(f"the connection broke ({_reason(error)})") from None
        if not chunk:
            return
        left = None if left is None else left - len(chunk)
        yield chunk


def _failure(remote: Remote, problem: str, remedy: str) -> BuildError:
    return BuildError(remote.shown, problem, remedy=remedy)
