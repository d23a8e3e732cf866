"""s3 and gs: objects of a bucket, by Arrow's file systems and their default credentials."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pyarrow as pa
from pyarrow import fs

from geolookup.errors import BuildError, near_match
from geolookup.remote import Answer, Limits, TransientError, Version
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
    # s3://bucket/a/b.csv -> "bucket/a/b.csv": Arrow's paths begin with the bucket.
    path = unquote(urlsplit(remote.uri).netloc + urlsplit(remote.uri).path)
    options = _options(remote)
    with _arrow_errors(remote):
        file = _file_system(remote, options, limits).open_input_file(path)
    with file:
        with _arrow_errors(remote):
            version, total = _version(file.metadata()), file.size()
        # Arrow has no conditional requests: the versions are compared here.
        if not start and known == version != Version():
            yield None
        else:
            at = start if known and known.validator == version.validator else 0
            yield Answer(version, _chunks(remote, file, at, total), total, at)


def _options(remote: Remote) -> dict[str, Any]:
    names = (*_OPTIONS, "region") if remote.scheme == "s3" else _OPTIONS
    options: dict[str, Any] = dict(parse_qsl(urlsplit(remote.uri).query))
    for name in options:
        if name not in names:
            problem = f"unknown option {name} of {remote.safe_uri}"
            raise BuildError(remote.recipe, problem, remedy=near_match(name, names))
    # An endpoint_override is "host:port" without a scheme; "//" makes urlsplit read it as a host.
    host = urlsplit("//" + options.get("endpoint_override", "")).hostname
    if options.get("scheme", "https") != "https" and not (remote.insecure or is_local(host)):
        problem = f"{remote.safe_uri} is not encrypted"
        raise BuildError(remote.recipe, problem, remedy="write scheme=https, or insecure = true")
    return {**options, "anonymous": options.get("anonymous") == "true"}


def _file_system(remote: Remote, options: dict[str, Any], limits: Limits) -> fs.FileSystem:
    if remote.scheme == "gs":
        limit = timedelta(seconds=math.ceil(limits.silence))
        return fs.GcsFileSystem(**options, retry_time_limit=limit)
    once = fs.AwsStandardS3RetryStrategy(max_attempts=1)  # ``transfer`` retries
    silence = {"connect_timeout": limits.silence, "request_timeout": limits.silence}
    return fs.S3FileSystem(**options, **silence, retry_strategy=once)


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
        with _arrow_errors(remote):
            chunk = file.read(_CHUNK)
        yield chunk


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
        raise TransientError(
            f"the bucket cannot be read ({' '.join(text.split())[:200]})"
        ) from error
