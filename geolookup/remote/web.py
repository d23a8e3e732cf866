"""https: one request, its redirects, and the status of the response (RFC 9110).

Redirects are followed here, not by urllib, and each is checked: never from https to
http, and the key is sent only if scheme, host and port stay the same. No
error contains an address with a key in it.
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

from geolookup.errors import BuildError, DownloadError
from geolookup.remote import Answer, CacheState, Limits, TransientError
from geolookup.remote.address import KEY_PLACEHOLDER, Remote, is_local
from geolookup.remote.headers import coding, conditions, response_range, retry_seconds, version
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
    is_conditional, response = _response(remote, state, key, limits)
    with response:
        _check_status(remote, response)
        # 304 answers a condition; none was sent without a kept file, or with a Range.
        if response.status == HTTPStatus.NOT_MODIFIED:
            if not is_conditional or state.start:
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
) -> tuple[bool, http.client.HTTPResponse]:
    """Return whether the answered request had conditions, and the response.

    A server may refuse conditions that came from another server, or from an attacker. A refused
    request is repeated once without them: else each later one would be refused too.
    """
    headers = conditions(state)
    response = _send(remote, headers, key, limits)
    if not (headers and _is_refused(response.status)):
        return bool(headers), response
    response.close()
    return False, _send(remote, {}, key, limits)


def _is_refused(status: int) -> bool:
    return 400 <= status < 500 and status not in _PASSING


def _send(
    remote: Remote, conditions: dict[str, str], key: Key | None, limits: Limits
) -> http.client.HTTPResponse:
    """Send the request and follow redirects."""
    opener, headers = _opener(), {"Accept-Encoding": "identity", **conditions}
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
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        name = remote.key_env or remote.key_file
        remedy = f"check the key in {name}" if name else "state key_env or key_file if it needs one"
        raise _not_delivered(remote, f"the server refuses access ({status})", remedy)
    if status in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        raise _not_delivered(
            remote, f"no such file on the server ({status})", "correct the path in the recipe"
        )
    raise _not_delivered(remote, f"the server answers {status}", "ask the vendor")


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


def _not_delivered(remote: Remote, problem: str, remedy: str) -> DownloadError:
    return DownloadError(remote.safe_uri, problem, wait=None, remedy=remedy)


def _failure(remote: Remote, problem: str, remedy: str) -> BuildError:
    return BuildError(remote.safe_uri, problem, remedy=remedy)
