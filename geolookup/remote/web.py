"""https: one request, its redirects, and the status and headers of the response (RFC 9110).

Redirects are followed here, not by a library, and each is checked: never from https to http, and
the key is sent only if scheme, host and port stay the same. No error contains an address with a
key in it. urllib of the standard library does the rest: proxies, certificates, chunks.

A header that a server sends once is sent back with every later request. So each is checked
against its grammar and a length; a malformed one counts as missing.
"""

from __future__ import annotations

import http.client
import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.message import Message
from email.utils import format_datetime, parsedate_to_datetime
from urllib.error import URLError
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, OpenerDirector, ProxyHandler, Request

from geolookup.filesystem.signatures import GZIP
from geolookup.remote import Answer, Limits, NoConnectionError, TransientError, Version
from geolookup.remote.address import CORRECT_PATH, KEY_PLACEHOLDER, Remote, is_local
from geolookup.remote.key import Key, key_of

_MOST_REDIRECTS = 5
#: RFC 9110, 15.4. The method is always GET, so all five are followed alike.
_REDIRECTS = {301, 302, 303, 307, 308}
#: Statuses that a retry may change; 425 is Too Early (RFC 8470), 429 Too Many Requests (RFC 6585).
_PASSING = {408, 425, 429, 500, 502, 503, 504}
_PAGES = {"text/html", "application/xhtml+xml"}
_CHUNK = 1 << 16
#: RFC 9110, 8.8.3: "v1" is strong; W/"v1" is weak: equal meaning, maybe other bytes.
_ENTITY_TAG = re.compile(r'(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"')
#: Bytes of an entity tag. The longest ones of common servers have about 70.
LONGEST_TAG = 256
#: Characters of a date. The longest form of RFC 9110, 5.6.7, has 33.
LONGEST_DATE = 64
#: A year of four digits that ``parsedate_to_datetime`` reads as one of two: 0001 as 2001.
_EARLY_YEAR = re.compile(r"\b00[0-9][0-9]\b")
#: "bytes 100-199/200": first and last byte, both included, of 200; "*" for an unknown size.
_CONTENT_RANGE = re.compile(r"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18}|\*)")
#: Retry-After in seconds. A date is ignored: the usual backoff is good enough.
_SECONDS = re.compile(r"[0-9]{1,9}")


@contextmanager
def request(
    remote: Remote, known: Version | None, start: int, limits: Limits
) -> Iterator[Answer | None]:
    """Yield the answer of the server for the block; None if the file is still ``known``.

    From byte ``start`` on, the rest of that version is requested. Raises TransientError if a retry
    may help, else BuildError.
    """
    key, headers = key_of(remote), conditions(known, start)
    response = _send(remote, headers, key, limits)
    # A server may refuse conditions that came from another server, or from an attacker. Without a
    # request that leaves them out, each later one would be refused too.
    if headers and 400 <= response.status < 500 and response.status not in _PASSING:
        response.close()
        response, headers = _send(remote, {}, key, limits), {}
    with response:
        if response.status == 304:
            if start or not headers:
                problem = "says that a file is unchanged that was never fetched"
                raise remote.refused(problem, "report it to the vendor")
            yield None
        else:
            yield _answer(remote, response, start, key)


def _send(
    remote: Remote, conditions: dict[str, str], key: Key | None, limits: Limits
) -> http.client.HTTPResponse:
    """Send the request and follow redirects."""
    headers = {"User-Agent": "geolookup", "Accept-Encoding": "identity", **conditions}
    origin = url = key.in_address(remote.uri) if key else remote.uri
    for _ in range(_MOST_REDIRECTS + 1):
        # "%" is safe: encoded characters stay, and others are encoded as UTF-8.
        address = quote(url, safe="/%:?#[]@!$&'()*+,;=~")
        sent = Request(address, headers=headers)  # noqa: S310 (the scheme is checked)
        if key and KEY_PLACEHOLDER not in remote.uri and _origin(url) == _origin(origin):
            sent.add_header(*key.header(remote.key_as))
        response = _open(remote, sent, limits)
        if response.status not in _REDIRECTS:
            return response
        with response:
            url = _next(remote, url, response.headers.get("Location", ""), key)
    raise remote.refused(f"redirects over {_MOST_REDIRECTS} times", CORRECT_PATH)


def _open(remote: Remote, sent: Request, limits: Limits) -> http.client.HTTPResponse:
    """Send one request; any status is returned, for urllib gets no handlers of statuses."""
    opener, host = OpenerDirector(), sent.host
    for handler in (ProxyHandler(), HTTPHandler(), HTTPSHandler()):
        opener.add_handler(handler)
    try:
        response: http.client.HTTPResponse = opener.open(sent, timeout=limits.silence)
    except (http.client.InvalidURL, UnicodeError):
        # The text of these contains the address with the key.
        raise remote.refused("is not an address", CORRECT_PATH) from None
    except (OSError, http.client.HTTPException) as error:
        reason = error.reason if isinstance(error, URLError) else error
        if isinstance(reason, ssl.SSLCertVerificationError):
            problem = f"the certificate of {host} is not valid ({reason.verify_message})"
            raise remote.refused(problem, CORRECT_PATH) from error
        problem = f"{host} cannot be reached ({_reason(reason)})"
        # Without its cause, whose text may contain bytes of the server.
        if not isinstance(error, URLError):
            raise TransientError(problem) from None
        # The system has sent its packets again until the timeout.
        attempts = 1 if isinstance(reason, TimeoutError) else 3
        raise NoConnectionError(problem, attempts=attempts) from None
    return response


def _reason(error: object) -> str:
    """Return why a connection failed, without any text of the server."""
    if isinstance(error, TimeoutError):
        return "timeout"
    return (isinstance(error, OSError) and error.strerror) or type(error).__name__


def _next(remote: Remote, url: str, location: str, key: Key | None) -> str:
    """Return the target of a redirect; BuildError if it must not be followed."""
    try:
        target = urljoin(url, location)
        (scheme, host, _), user = _origin(target), "@" in urlsplit(target).netloc
    except ValueError:
        host = None
    if not location or not host or user or scheme not in ("https", "http"):
        raise remote.refused("redirects to an invalid address", CORRECT_PATH)
    is_open = remote.insecure or (is_local(urlsplit(url).hostname) and is_local(host))
    if scheme == "http" and not (urlsplit(url).scheme == "http" and is_open):
        raise remote.refused(f"redirects to {host} without encryption", CORRECT_PATH)
    if key and _origin(target) != _origin(url) and key.is_in(target):
        raise remote.refused(f"redirects to {host} with the key in the address", CORRECT_PATH)
    return target


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    # https://a and https://a:443 are one origin (RFC 6454).
    return parts.scheme, parts.hostname, parts.port or {"https": 443, "http": 80}.get(parts.scheme)


def _answer(
    remote: Remote, response: http.client.HTTPResponse, start: int, key: Key | None
) -> Answer:
    """Return the answer of a response; an error unless it has the file, or the rest of it."""
    status, headers = response.status, response.headers
    if status in _PASSING:
        wait = _SECONDS.fullmatch(headers.get("Retry-After", "").strip())
        raise TransientError(f"the server answers {status}", wait=float(wait[0]) if wait else None)
    if status in (401, 403):
        name = ": ".join(filter(None, (remote.key_env or remote.key_file, remote.key_form)))
        remedy = f"check the key in {name}" if name else "state key_env or key_file if it needs one"
        raise remote.failed(f"the server refuses access ({status})", remedy)
    if status in (404, 410):
        raise remote.missing(f"no such file on the server ({status})")
    if status not in (200, 206):
        raise remote.failed(f"the server answers {status}", "ask the vendor")
    if "Content-Type" in headers and headers.get_content_type() in _PAGES:
        problem = "the server answered with an HTML page"
        raise remote.refused(problem, "the key or the path may be wrong")
    coding = headers.get("Content-Encoding", "identity").strip().lower()
    # Servers state gzip also of files that are gzip themselves: their bytes are those of the file.
    is_gzip = "gzip" in coding and remote.file.lower().endswith(GZIP.endings)
    if coding != "identity" and not is_gzip:
        problem = "the server sent it compressed, which was not requested"
        remedy = f'state file = "{remote.file}.gz" in the recipe if that is gzip'
        raise remote.refused(problem, remedy)
    start = start if status == 206 else 0
    total = content_range(headers, start) if status == 206 else response.length
    # The last chunk has length 0, so a chunked body shows its end without a Content-Length.
    ends = response.chunked or total is not None
    return Answer(version(headers, key), _chunks(response), total, start, ends)


def _chunks(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Yield the body as it arrives, up to its stated length."""
    try:
        while chunk := response.read1(_CHUNK):
            yield chunk
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise TransientError(f"the connection broke ({_reason(error)})") from None


def conditions(version: Version | None, start: int = 0) -> dict[str, str]:
    """Return headers that request the file if it is another version, or its rest from ``start`` on.

    The version comes from a file of the cache; a malformed tag is not sent.
    """
    if version is None:
        return {}
    if start:
        # If-Range: the whole file (200) instead of the part (206) if the validator differs.
        tag = entity_tag(version.validator)
        return {"Range": f"bytes={start}-", "If-Range": tag} if tag else {}
    date = datetime.fromisoformat(version.modified) if version.modified else None
    modified = format_datetime(date, usegmt=True) if date else ""
    headers = {"If-None-Match": entity_tag(version.etag), "If-Modified-Since": modified}
    return {name: value for name, value in headers.items() if value}


def entity_tag(text: str) -> str:
    """Return an entity tag; empty if it is malformed or too long (RFC 9110, 8.8.3)."""
    tag = text.strip(" \t")
    return tag if len(tag) <= LONGEST_TAG and _ENTITY_TAG.fullmatch(tag) else ""


def content_range(headers: Message, start: int) -> int:
    """Return the size of the whole file of a partial response (RFC 9110, 14.4).

    Raises TransientError for a part that is not the rest from byte ``start`` on.
    """
    part = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", "").strip())
    if part is None:
        raise TransientError("the server does not state which part it sends", discard=True)
    first, end = int(part[1]), int(part[2]) + 1
    # The rest was requested, so the last byte sent is the last of the file.
    if not start or first != start or end <= start or part[3] not in ("*", str(end)):
        raise TransientError("the server sent another part than requested", discard=True)
    return end


def version(headers: Message, key: Key | None) -> Version:
    """Return the version of the file; a malformed member is empty, and a tag with the key in it."""
    etag, date = entity_tag(headers.get("ETag", "")), headers.get("Last-Modified", "")
    if key and key.is_in(etag):  # the cache stores the ETag
        etag = ""
    if len(date) > LONGEST_DATE or _EARLY_YEAR.search(date):
        return Version(etag)
    try:
        modified = parsedate_to_datetime(date)
        modified = modified if modified.tzinfo else modified.replace(tzinfo=UTC)
        return Version(etag, modified.astimezone(UTC).isoformat())
    except (ValueError, OverflowError):
        return Version(etag)
