"""The address of a remote source as the recipe states it, checked.

Messages and the cache contain the address without its query. The key is not part of the
address here: ``{key}`` is replaced only when the request is made.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import url2pathname

from geolookup.errors import BuildError, DownloadError, MissingFileError, near_match

#: The keys of a source in a recipe that belong to its path: texts, and one switch.
TEXTS = ("sha256", "file", "key_env", "key_file", "key_as", "key_form")
SWITCH = "insecure"
#: The placeholder of the key in an address.
KEY_PLACEHOLDER = "{key}"
#: The placeholder of a month, such as 2026-11; ``transfer`` chooses it for each request.
MONTH_PLACEHOLDER = "{month}"
CORRECT_PATH = "correct the path in the recipe"
_KEYS = ("key_env", "key_file", "key_as", "key_form")
#: The keys that are allowed with a scheme; a local path has none.
_ALLOWED = {
    **dict.fromkeys(("https", "http"), frozenset({*TEXTS, SWITCH})),
    **dict.fromkeys(("s3", "gs"), frozenset({"sha256", "file", SWITCH})),
    **dict.fromkeys(("file", ""), frozenset({"sha256"})),
}
_URI = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
_HEADER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]*")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAME_IT = 'state the name of the file: file = "name.csv.gz"'
_NO_PAGE = "write a host, {key} after it, and no fragment (#)"
_BY_KEY = "key_env or key_file"
_ONE_MONTH = "drop it, or write the month into the path"


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote file; ``file`` is its name in the cache.

    ``key_form`` is the form of the key, such as ACCOUNT_ID:LICENSE_KEY, and then where it is found.
    ``strict``: a cached file is used only if no other user can have changed it.
    """

    recipe: Path
    uri: str
    file: str
    key_env: str = ""
    key_file: str = ""
    key_as: str = "bearer"
    key_form: str = ""
    insecure: bool = False
    strict: bool = False

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
        """The identity of this address in the cache, of 48 bits."""
        return hashlib.sha256(self.uri.encode()).hexdigest()[:12]

    def of_month(self, month: str) -> Remote:
        """Return the file of one month of an address with ``{month}``, else this one."""
        if MONTH_PLACEHOLDER not in self.uri:
            return self
        uri, file = (text.replace(MONTH_PLACEHOLDER, month) for text in (self.uri, self.file))
        return replace(self, uri=uri, file=file)

    def refused(self, problem: str, remedy: str) -> BuildError:
        """Return the error of a file, or an answer, that is not used."""
        return BuildError(self.safe_uri, problem, remedy=remedy)

    def failed(self, problem: str, remedy: str, wait: float | None = None) -> DownloadError:
        """Return the error of a server that does not deliver; a cached file may serve instead."""
        return DownloadError(self.safe_uri, problem, wait=wait, remedy=remedy)

    def missing(self, problem: str) -> MissingFileError:
        """Return the error of a file that does not exist."""
        return MissingFileError(self.safe_uri, problem, wait=None, remedy=CORRECT_PATH)


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
        problem = "source.sha256 is not 64 hexadecimal digits"
        raise BuildError(recipe, problem, remedy="correct it in the recipe")
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
    if scheme != "file":
        return _remote(recipe, path, texts, insecure)
    parts = _split(path)
    if parts.hostname not in (None, "localhost") or parts.query or not parts.path:
        problem = f"{without_secrets(path)} is not a local file"
        raise BuildError(recipe, problem, remedy="write file:///folder/file")
    return url2pathname(parts.path)


def _remote(recipe: Path, uri: str, texts: Mapping[str, str], insecure: bool) -> Remote:
    parts, address = _split(uri), without_secrets(uri)
    file = texts.get("file", unquote(parts.path.rpartition("/")[2]))
    keys = {key: texts[key] for key in _KEYS if key in texts}
    remote = Remote(recipe, uri, file, **keys, insecure=insecure, strict=False)
    in_uri, is_other = KEY_PLACEHOLDER in uri, not _HEADER_NAME.fullmatch(remote.key_as)
    is_open = parts.scheme == "http" and not insecure and not is_local(parts.hostname)
    is_unset = not (remote.key_env or remote.key_file) and (in_uri or keys)
    is_pinned = MONTH_PLACEHOLDER in uri and "sha256" in texts
    is_plain = _FILE_NAME.fullmatch(remote.of_month("2026-11").file)
    is_page = not parts.hostname or parts.fragment or KEY_PLACEHOLDER in parts.netloc
    for is_fault, problem, remedy in (
        (not is_plain, f"{address} does not end in a plain file name", _NAME_IT),
        (is_page, f"{address} is not the address of a file", _NO_PAGE),
        ("@" in parts.netloc, f"{address} holds a user or a password", f"give them with {_BY_KEY}"),
        (is_open, f"{address} is not encrypted", "write https://, or insecure = true"),
        ({"key_env", "key_file"} <= keys.keys(), "both source.key_env and key_file", "keep one"),
        (is_pinned, "source.sha256 is of the file of one month", _ONE_MONTH),
        (is_unset, "no key for the source", f"state {_BY_KEY}"),
        (in_uri and "key_as" in keys, "both {key} and source.key_as", "keep one of them"),
        (is_other, f"source.key_as is {remote.key_as!r}", "write bearer, basic or a header's name"),
    ):
        if is_fault:
            raise BuildError(recipe, problem, remedy=remedy)
    return remote


def _split(uri: str) -> SplitResult:
    """Split an address; a malformed one has a scheme and a placeholder path only."""
    try:
        parts = urlsplit(uri)
        _ = parts.port  # raises ValueError if it is not a number
    except ValueError:
        return SplitResult(uri.partition("://")[0].lower(), "", "/…", "", "")
    return parts
