"""https: one request, its redirects, and the headers of the response (RFC 9110).

Redirects are followed here, not by urllib, and each is checked: never from https to
http, and the key is sent only if scheme, host and port stay the same. No
error contains an address with a key in it.
"""

from __future__ import annotations

import http.client
import re
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.message import Message
from email.utils import format_datetime, parsedate_to_datetime
from http import HTTPStatus
from urllib.error import URLError
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from geolookup.errors import BuildError
from geolookup.remote import Answer, CacheState, Limits, TransientError, Version
from geolookup.remote.address import KEY_PLACEHOLDER, Remote, is_local
from geolookup.remote.key import Key, key_of

_MOST_REDIRECTS = 5
#: RFC 9110, 15.4. The method is always GET, so all five are followed alike.
_REDIRECTS = {301, 302, 303, 307, 308}
#: Statuses that a retry may change; 425 is Too Early (RFC 8470), 429 Too Many Requests (RFC 6585).
_PASSING = {408, 425, 429, 500, 502, 503, 504}
_PAGES = {"text/html", "application/xhtml+xml"}
_CHUNK = 1 << 16


@contextmanager
def request(remote: Remote, state: CacheState, limits: Limits) -> Iterator[Answer | None]:
    """Yield the answer of the server for the block; None if the cached file is current.

    Raises TransientError if a retry may help, else BuildError.
    """
    key = key_of(remote)
    with _response(remote, state, key, limits) as response:
        _check_status(remote, response)
        # 304 answers a condition; none was sent without a kept file, or with a Range.
        if response.status == HTTPStatus.NOT_MODIFIED:
            if state.version is None or state.start:
                raise _failure(
                    remote,
                    "says that a file is unchanged that was never fetched",
                    "report it to the vendor",
                )
            yield None
        else:
            _check_headers(remote, response.headers)
            yield _answer(response, state, key)


def _response(
    remote: Remote, state: CacheState, key: Key | None, limits: Limits
) -> http.client.HTTPResponse:
    """Send the request and follow redirects."""
    opener, headers = _opener(), _headers(state)
    origin = url = key.in_address(remote.uri) if key else remote.uri
    for _ in range(_MOST_REDIRECTS + 1):
        sent = Request(_ascii(url), headers=headers)  # noqa: S310 (the scheme is checked)
        if key and KEY_PLACEHOLDER not in remote.uri and _origin(url) == _origin(origin):
            sent.add_header(*key.header(remote.key_as))
        response = _open(remote, opener, sent, limits)
        if response.status not in _REDIRECTS:
            return response
        with response:
            url = _next(remote, url, response.headers.get("Location", ""), key)
    raise _failure(
        remote, f"redirects over {_MOST_REDIRECTS} times", "correct the path in the recipe"
    )


def _opener() -> OpenerDirector:
    """Return an opener for http and https only, with the proxies of the environment.

    Without the error processors of urllib, it returns every status.
    """
    opener = OpenerDirector()
    opener.addheaders = [("User-Agent", "geolookup")]
    # Python's default context of https checks certificates.
    for handler in (ProxyHandler(), HTTPHandler(), HTTPSHandler()):
        opener.add_handler(handler)
    return opener


def _headers(state: CacheState) -> dict[str, str]:
    """Return headers that request the rest of a file, or the file only if it has changed."""
    headers = {"Accept-Encoding": "identity"}
    if state.start:
        # If-Range: the whole file (200) instead of the part (206) if the validator differs.
        headers |= {"Range": f"bytes={state.start}-", "If-Range": state.validator}
    elif state.version is not None:
        if state.version.etag:
            headers["If-None-Match"] = state.version.etag
        if state.version.modified:
            headers["If-Modified-Since"] = http_date(state.version.modified)
    return headers


def _open(
    remote: Remote, opener: OpenerDirector, sent: Request, limits: Limits
) -> http.client.HTTPResponse:
    host = sent.host
    try:
        response: http.client.HTTPResponse = opener.open(sent, timeout=limits.silence)
    except (http.client.InvalidURL, UnicodeError):
        # The text of these contains the address with the key.
        raise BuildError(
            remote.safe_uri, "is not an address", remedy="correct the path in the recipe"
        ) from None
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, ssl.SSLCertVerificationError):
            problem = f"the certificate of {host} is not valid ({reason.verify_message})"
            remedy = "correct the path in the recipe"
            raise BuildError(remote.safe_uri, problem, remedy=remedy) from error
        # Without its cause, whose text may contain bytes of the server.
        raise TransientError(f"{host} cannot be reached ({_reason(reason)})") from None
    return response


def _reason(error: object) -> str:
    """Return why a connection failed, without any text of the server."""
    if isinstance(error, TimeoutError):
        return "timeout"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return type(error).__name__


def _next(remote: Remote, url: str, location: str, key: Key | None) -> str:
    """Return the target of a redirect; BuildError if it must not be followed."""
    remedy = "correct the path in the recipe"
    try:
        target = urljoin(url, location)
        parts = urlsplit(target)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if not location or not host or "@" in parts.netloc or parts.scheme not in ("https", "http"):
        raise _failure(remote, "redirects to an invalid address", remedy)
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
    # https://a and https://a:443 are one origin (RFC 6454).
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)


def _ascii(url: str) -> str:
    # "%" is safe: encoded characters stay, and others are encoded as UTF-8.
    return quote(url, safe="/%:?#[]@!$&'()*+,;=~")


def _check_status(remote: Remote, response: http.client.HTTPResponse) -> None:
    status = response.status
    if status in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT, HTTPStatus.NOT_MODIFIED):
        return
    if status in _PASSING:
        wait = retry_seconds(response.headers.get("Retry-After"))
        raise TransientError(f"the server answers {status}", wait=wait)
    if status == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        raise TransientError(f"the server answers {status}", discard=True)
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        name = remote.key_env or remote.key_file
        remedy = f"check the key in {name}" if name else "state key_env or key_file if it needs one"
        raise _failure(remote, f"the server refuses access ({status})", remedy)
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        raise _failure(
            remote, f"no such file on the server ({status})", "correct the path in the recipe"
        )
    raise _failure(remote, f"the server answers {status}", "ask the vendor")


def _check_headers(remote: Remote, headers: Message) -> None:
    if "Content-Type" in headers and headers.get_content_type() in _PAGES:
        problem = "the server answered with an HTML page"
        raise _failure(remote, problem, "the key or the path may be wrong")
    if coding(headers) not in ("", "gzip"):
        problem = "the server sent a Content-Encoding that was not requested"
        raise _failure(remote, problem, "download it, and name the local file")


def _answer(response: http.client.HTTPResponse, state: CacheState, key: Key | None) -> Answer:
    headers = response.headers
    start, total = response_range(response.status, headers, state.start)
    return Answer(
        version=version(headers, key),
        chunks=_chunks(response, None if total is None else total - start),
        total=total,
        start=start,
        # The last chunk has length 0, so a chunked body shows its end without a Content-Length.
        ends="chunked" in headers.get("Transfer-Encoding", "").lower(),
        coding=coding(headers),
    )


def _chunks(response: http.client.HTTPResponse, left: int | None) -> Iterator[bytes]:
    """Yield the body as it arrives, up to its stated length."""
    while left is None or left > 0:
        try:
            chunk = response.read1(_CHUNK if left is None else min(_CHUNK, left))
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise TransientError(f"the connection broke ({_reason(error)})") from None
        if not chunk:
            return
        left = None if left is None else left - len(chunk)
        yield chunk


def _failure(remote: Remote, problem: str, remedy: str) -> BuildError:
    return BuildError(remote.safe_uri, problem, remedy=remedy)


#: "bytes 100-199/200": first and last byte, both included, of 200; "*" for an unknown size.
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)")
_LENGTH = re.compile(r"[0-9]{1,18}")
#: RFC 9110, 8.8.2.2: a file may change twice within the second that a date resolves.
_SURE_SECONDS = 60
#: RFC 9111, 1.2.2: stands for any greater number of seconds.
_MOST_SECONDS = 2.0**31


def response_range(status: int, headers: Message, start: int) -> tuple[int, int | None]:
    """Return the first byte of a response, and the size of the whole file if it is stated.

    RFC 9110, 8.6 and 14.4. Raises TransientError for a part that is not the rest from byte
    ``start`` on.
    """
    length = headers.get("Content-Length", "").strip()
    if status != HTTPStatus.PARTIAL_CONTENT:
        return 0, int(length) if _LENGTH.fullmatch(length) else None
    part = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", "").strip())
    if part is None:
        raise TransientError("the server does not state which part it sends", discard=True)
    first, last = int(part[1]), int(part[2])
    # The rest was requested, so the last byte sent is the last of the file.
    total = last + 1 if part[3] == "*" else int(part[3])
    if not start or first != start or last + 1 != total:
        raise TransientError("the server sent another part than requested", discard=True)
    return first, total


def version(headers: Message, key: Key | None) -> Version:
    """Return the version of the file; weak ETags and recent dates are not validators (RFC 9110)."""
    etag, modified = headers.get("ETag", ""), _iso(headers.get("Last-Modified", ""))
    if key and key.is_in(etag):  # the cache stores the ETag
        etag = ""
    # '"v1"' is strong; 'W/"v1"' is weak: equal meaning, maybe other bytes (RFC 9110, 8.8.1).
    if etag.startswith('"'):
        return Version(etag, modified, etag)
    date = _iso(headers.get("Date", ""))
    return Version(etag, modified, http_date(modified) if _is_sure(modified, date) else "")


def _is_sure(modified: str, date: str) -> bool:
    if not (modified and date):
        return False
    passed = datetime.fromisoformat(date) - datetime.fromisoformat(modified)
    return passed.total_seconds() >= _SURE_SECONDS


def coding(headers: Message) -> str:
    """Return the Content-Encoding of the response; empty without one."""
    value = headers.get("Content-Encoding", "").strip().lower()
    return {"identity": "", "x-gzip": "gzip"}.get(value, value)


def retry_seconds(retry_after: str | None) -> float | None:
    """Return the seconds of a Retry-After (RFC 9110, 10.2.3), a number or a date; else None."""
    if retry_after is None:
        return None
    if retry_after.strip().isdecimal():
        return min(float(retry_after), _MOST_SECONDS)
    until = _iso(retry_after)
    return max(0.0, datetime.fromisoformat(until).timestamp() - time.time()) if until else None


def _iso(date: str) -> str:
    """Return the date of a header as ISO 8601 in UTC; empty if it is malformed."""
    try:
        instant = parsedate_to_datetime(date)
        aware = instant if instant.tzinfo else instant.replace(tzinfo=UTC)
        return aware.astimezone(UTC).isoformat()
    except (ValueError, OverflowError):
        return ""


def http_date(iso: str) -> str:
    """Return an instant of ISO 8601 in the format of headers."""
    return format_datetime(datetime.fromisoformat(iso), usegmt=True)
