"""s3 and gs: objects of a bucket, by Arrow's file systems and their default credentials."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pyarrow as pa
from pyarrow import fs

from geolookup.errors import BuildError, near_match
from geolookup.remote import Answer, Limits, NoConnectionError, TransientError, Version
from geolookup.remote.address import Remote, is_local

_CHUNK = 1 << 20
#: The options in the query of an address; s3 has ``region`` as well.
_OPTIONS = ("endpoint_override", "scheme", "anonymous")
#: Words in Arrow's messages that a retry does not resolve.
_REFUSALS = ("ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH")
_REFUSED = (*_REFUSALS, "PERMISSION_DENIED", "UNAUTHENTICATED", "INVALID_CLIENT_TOKEN_ID")


@contextmanager
def request(
    remote: Remote, known: Version | None, start: int, limits: Limits
) -> Iterator[Answer | None]:
    """Yield the object for the block; None if it is still ``known``.

    From byte ``start`` on, the rest of that version is sent. Raises TransientError if a retry may
    help, else BuildError.
    """
    with _arrow_errors(remote):
        file = _open(remote, limits)
    with file:
        with _arrow_errors(remote):
            version, total = _version(file.metadata()), file.size()
        # Arrow has no conditional requests: the versions are compared here.
        if not start and known == version != Version():
            yield None
        else:
            at = start if known and known.validator == version.validator else 0
            yield Answer(version, _chunks(remote, file, at, total), total, at)


def _open(remote: Remote, limits: Limits) -> pa.NativeFile:
    """Open an object with the options of the query; BuildError for one that is unknown."""
    parts, is_s3 = urlsplit(remote.uri), remote.scheme == "s3"
    names = (*_OPTIONS, "region") if is_s3 else _OPTIONS
    options: dict[str, Any] = dict(parse_qsl(parts.query))
    for name in options.keys() - {*names}:
        problem = f"unknown option {name} of {remote.safe_uri}"
        raise BuildError(remote.recipe, problem, remedy=near_match(name, names))
    # An endpoint_override is "host:port" without a scheme; "//" makes urlsplit read it as a host.
    host = urlsplit("//" + options.get("endpoint_override", "")).hostname
    if options.get("scheme", "https") != "https" and not (remote.insecure or is_local(host)):
        problem = f"{remote.safe_uri} is not encrypted"
        raise BuildError(remote.recipe, problem, remedy="write scheme=https, or insecure = true")
    options["anonymous"], silence = options.get("anonymous") == "true", limits.silence
    if is_s3:
        once = fs.AwsStandardS3RetryStrategy(max_attempts=1)  # ``transfer`` retries
        timeouts = {"connect_timeout": silence, "request_timeout": silence}
        system = fs.S3FileSystem(**options, **timeouts, retry_strategy=once)
    else:
        system = fs.GcsFileSystem(**options, retry_time_limit=timedelta(seconds=ceil(silence)))
    # s3://bucket/a/b.csv -> "bucket/a/b.csv": Arrow's paths begin with the bucket.
    return system.open_input_file(unquote(parts.netloc + parts.path))


def _version(metadata: dict[str, Any]) -> Version:
    """Return the version of an object; generation (gs) and ETag (s3) identify its bytes."""
    texts = {
        name.lower(): value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        for name, value in (metadata or {}).items()
    }
    # gs states "generation", a number that each write of the object changes; s3 only the ETag.
    etag = texts.get("generation") or texts.get("etag", "")
    try:
        modified = datetime.fromisoformat(texts.get("last-modified") or texts.get("updated", ""))
    except ValueError:
        return Version(etag)
    return Version(etag, modified.astimezone(UTC).isoformat())


def _chunks(remote: Remote, file: pa.NativeFile, start: int, total: int) -> Iterator[bytes]:
    with _arrow_errors(remote):
        file.seek(start)
        for _ in range(start, total, _CHUNK):
            yield file.read(_CHUNK)


@contextmanager
def _arrow_errors(remote: Remote) -> Iterator[None]:
    """Turn errors of Arrow into a TransientError if a retry may help, else a BuildError."""
    try:
        yield
    except FileNotFoundError as error:
        raise remote.missing("no such file in the bucket") from error
    except (OSError, pa.ArrowException) as error:
        text = str(error)
        if isinstance(error, PermissionError) or any(word in text for word in _REFUSED):
            remedy = "check the credentials of the environment, or write anonymous=true"
            raise remote.failed("the bucket refuses access", remedy) from error
        problem = f"the bucket cannot be read ({' '.join(text.split())[:200]})"
        # Codes of libcurl: the name of the host was not found, no connection was made.
        is_unreachable = any(f"curlCode: {code}," in text for code in (6, 7))
        raise (NoConnectionError if is_unreachable else TransientError)(problem) from error
