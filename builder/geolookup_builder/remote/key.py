"""A vendor's key: read from the environment or a file, sent with the request, never printed."""

from __future__ import annotations

import os
import re
from base64 import b64encode
from urllib.parse import quote

from geolookup.errors import BuildError
from geolookup_builder.remote.address import KEY_PLACEHOLDER, Remote

_PRINTABLE = re.compile(r"[!-~]+(?: [!-~]+)*")


class Key:
    """A secret text. Its representation is hidden, so that no log or traceback contains it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Key(hidden)"

    def in_address(self, uri: str) -> str:
        """Return an address with the placeholder replaced by the key."""
        return uri.replace(KEY_PLACEHOLDER, quote(self._text, safe=""))

    def is_in(self, address: str) -> bool:
        """Return whether an address contains the key."""
        return self._text in address or quote(self._text, safe="") in address

    def header(self, way: str) -> tuple[str, str]:
        """Return the request header; ``way`` is bearer (RFC 6750), basic (RFC 7617) or its name."""
        if way == "basic":
            return "Authorization", "Basic " + b64encode(self._text.encode("ascii")).decode("ascii")
        if way == "bearer":
            return "Authorization", f"Bearer {self._text}"
        return way, self._text


def key_of(remote: Remote) -> Key | None:
    """Read the key of a source; None where it has none. BuildError where it is missing."""
    if remote.key_env:
        place, text = f"the environment variable {remote.key_env}", os.environ.get(remote.key_env)
    elif remote.key_file:
        place, text = f"the file {remote.key_file}", _in_file(remote)
    else:
        return None
    if not (text := (text or "").strip()):
        problem = f"no key for {remote.shown} in {place}"
        raise BuildError(remote.recipe, problem, remedy="put the key there")
    if not _PRINTABLE.fullmatch(text):
        problem = f"the key in {place} is not one line of printable ASCII"
        raise BuildError(remote.recipe, problem, remedy="correct the key")
    if remote.key_as == "basic" and ":" not in text:
        problem = f"the key in {place} has no colon"
        raise BuildError(remote.recipe, problem, remedy="write user:password")
    return Key(text)


def _in_file(remote: Remote) -> str:
    path = remote.recipe.parent / remote.key_file
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text"
        problem = f"the key of {remote.shown} cannot be read ({reason})"
        # The text of a decoding error would contain the key.
        raise BuildError(path, problem, remedy="check the file") from None
