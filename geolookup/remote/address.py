"""The address of a remote source as the recipe states it, checked.

Messages and the cache contain the address without its query. The key is not part of the
address here: ``{key}`` is replaced only when the request is made.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import url2pathname

from geolookup.errors import BuildError, near_match

#: The keys of a source in a recipe that belong to its path: texts, and one switch.
TEXTS = ("sha256", "file", "key_env", "key_file", "key_as")
SWITCH = "insecure"
#: The placeholder of the key in an address.
KEY_PLACEHOLDER = "{key}"
_KEYS = ("key_env", "key_file", "key_as")
#: The keys that are allowed with a scheme; a local path has none.
_ALLOWED = {
    "https": {*TEXTS, SWITCH},
    "http": {*TEXTS, SWITCH},
    "s3": {"sha256", "file", SWITCH},
    "gs": {"sha256", "file", SWITCH},
    "file": {"sha256"},
    "": {"sha256"},
}
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
_HEADER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote file; ``file`` is its name in the cache."""

    recipe: Path
    uri: str
    file: str
    key_env: str = ""
    key_file: str = ""
    key_as: str = "bearer"
    insecure: bool = False

    @property
    def scheme(self) -> str:
        """The scheme, in lower case."""
        return urlsplit(self.uri).scheme

    @property
    def safe_uri(self) -> str:
        """The address for messages and the cache: without its query (it may be secret)."""
        return without_secrets(self.uri)

    @property
    def identity(self) -> str:
        """The identity of this address in the cache."""
        # 48 bits: enough to tell the addresses of one cache apart.
        return hashlib.sha256(self.uri.encode()).hexdigest()[:12]


def without_secrets(uri: str) -> str:
    """Return an address without query and user: either may be secret."""
    parts = _split(uri)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}" + ("?…" if parts.query else "")


def is_local(host: str | None) -> bool:
    """Return whether a host is the local machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


def sha256(recipe: Path, texts: Mapping[str, str]) -> str:
    """Return the digest that a recipe states, in lower case; empty without one."""
    digest = texts.get("sha256", "").lower()
    if digest and not _SHA256.fullmatch(digest):
        raise BuildError(
            recipe, "source.sha256 is not 64 hexadecimal digits", remedy="correct it in the recipe"
        )
    return digest


def location(recipe: Path, path: str, texts: Mapping[str, str], *, insecure: bool) -> str | Remote:
    """Return a local path, or the remote file that an address names.

    Raises BuildError for a malformed address, and for keys that its scheme does not allow.
    """
    uri = _URI.match(path)
    scheme = uri[1].lower() if uri else ""
    if scheme not in _ALLOWED:
        remedy = near_match(scheme, filter(None, _ALLOWED))
        raise BuildError(recipe, f"unknown scheme {scheme}:// in source.path", remedy=remedy)
    for key in sorted({*texts, *([SWITCH] if insecure else [])} - _ALLOWED[scheme]):
        problem = f"has no meaning for a path of {scheme}" if scheme else "without an address"
        raise BuildError(recipe, f"source.{key} {problem}", remedy="drop it")
    if not scheme:
        return path
    if scheme == "file":
        return _local_path(recipe, path)
    return _remote(recipe, path, texts, insecure)


def _local_path(recipe: Path, uri: str) -> str:
    parts = _split(uri)
    if parts.hostname not in (None, "localhost") or parts.query or not parts.path:
        _refuse(recipe, uri, "is not a local file", "write file:///folder/file")
    return url2pathname(parts.path)


def _remote(recipe: Path, uri: str, texts: Mapping[str, str], insecure: bool) -> Remote:
    parts = _split(uri)
    texts_of_keys = {key: texts[key] for key in _KEYS if key in texts}
    remote = Remote(recipe, uri, _file_name(recipe, uri, texts), **texts_of_keys, insecure=insecure)
    if not parts.hostname or parts.fragment:
        _refuse(recipe, uri, "is not the address of a file", "write it without a fragment (#)")
    if "@" in parts.netloc:
        _refuse(recipe, uri, "holds a user or a password", "give them with key_env or key_file")
    if parts.scheme == "http" and not insecure and not is_local(parts.hostname):
        _refuse(recipe, uri, "is not encrypted", "write https://, or insecure = true")
    _check_key(remote, parts, texts)
    return remote


def _check_key(remote: Remote, parts: SplitResult, texts: Mapping[str, str]) -> None:
    keys = [name for name in ("key_env", "key_file") if name in texts]
    if len(keys) == 2:
        raise BuildError(remote.recipe, "both source.key_env and key_file", remedy="keep one")
    if KEY_PLACEHOLDER in parts.netloc:
        _refuse(remote.recipe, remote.uri, "has {key} for its host", "put it into path or query")
    if not keys and (KEY_PLACEHOLDER in remote.uri or "key_as" in texts):
        raise BuildError(remote.recipe, "no key for the source", remedy="state key_env or key_file")
    if KEY_PLACEHOLDER in remote.uri and "key_as" in texts:
        raise BuildError(remote.recipe, "both {key} and source.key_as", remedy="keep one of them")
    if not _HEADER_NAME.fullmatch(remote.key_as):
        problem = f"source.key_as is {remote.key_as!r}"
        remedy = "write bearer, basic or the name of a header"
        raise BuildError(remote.recipe, problem, remedy=remedy)


def _file_name(recipe: Path, uri: str, texts: Mapping[str, str]) -> str:
    name = texts.get("file", unquote(_split(uri).path.rpartition("/")[2]))
    if not _FILE_NAME.fullmatch(name):
        remedy = 'state the name of the file: file = "name.csv.gz"'
        _refuse(recipe, uri, "does not end in a plain file name", remedy)
    return name


def _split(uri: str) -> SplitResult:
    """Split an address; a malformed one has a scheme and a placeholder path only."""
    try:
        parts = urlsplit(uri)
        _ = parts.port  # raises ValueError if it is not a number
    except ValueError:
        return SplitResult(uri.partition("://")[0].lower(), "", "/…", "", "")
    return parts


def _refuse(recipe: Path, uri: str, problem: str, remedy: str) -> NoReturn:
    raise BuildError(recipe, f"{without_secrets(uri)} {problem}", remedy=remedy)
