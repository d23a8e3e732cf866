"""A vendor's key: read from the environment or a file, sent with the request, never printed.

A server may repeat the key in its answers. ``is_in`` finds it there, and ``hide_keys`` masks it in
errors and texts.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import reduce
from urllib.parse import quote

from geolookup.errors import BuildError
from geolookup.filesystem import open_regular
from geolookup.remote.address import KEY_PLACEHOLDER, Remote

Mask = Callable[[str], str]
#: A shorter password of ``user:password`` is masked only with its user.
_SHORTEST = 4
#: Printable ASCII with single spaces inside: a line break would end the header.
_PRINTABLE = re.compile(r"[!-~]+(?: [!-~]+)*")


class Key:
    """A secret text. Its representation is hidden: no log or traceback contains it."""

    __slots__ = ("_base64", "_forms", "_text")

    def __init__(self, text: str) -> None:
        self._text, self._base64 = text, b64encode(text.encode("ascii")).decode("ascii")
        password = text.partition(":")[2]
        # Longest first: an alternation takes the first form that matches, and would leave the rest
        # of a longer one unmasked. "=" at the end of base64 is often left out or encoded.
        secrets = (self._base64.rstrip("="), text, password if len(password) >= _SHORTEST else "")
        forms = "|".join(map(_any_coding, filter(None, secrets)))
        self._forms = re.compile(forms, re.IGNORECASE)

    def __repr__(self) -> str:
        return "Key(hidden)"

    def in_address(self, uri: str) -> str:
        """Return an address with the placeholder replaced by the key."""
        # safe="": a "/" or "&" in the key must not divide the address.
        return uri.replace(KEY_PLACEHOLDER, quote(self._text, safe=""))

    def is_in(self, text: str) -> bool:
        """Return whether a text contains the key: plain, percent-encoded or in base64."""
        return self._forms.search(text) is not None

    def mask(self, text: str) -> str:
        """Return a text with the key replaced by the placeholder."""
        return self._forms.sub(KEY_PLACEHOLDER, text)

    def header(self, way: str) -> tuple[str, str]:
        """Return the request header; ``way`` is bearer (RFC 6750), basic (RFC 7617) or its name."""
        values = {"bearer": f"Bearer {self._text}", "basic": f"Basic {self._base64}"}
        return ("Authorization", values[way]) if way in values else (way, self._text)


def _any_coding(secret: str) -> str:
    """Return a pattern for a text with any characters percent-encoded or escaped.

    Also for the alphabet of base64 in addresses (RFC 4648, 5), and a space as ``+``.
    """
    others = {"+": "-", "/": "_", " ": "+"}
    # "a/" becomes (?:\\?[a]|%61)(?:\\?[/_]|%2f): it finds a/, a_, a\/, %61%2F (IGNORECASE).
    return "".join(
        rf"(?:\\?[{re.escape(sign + others.get(sign, ''))}]|%{ord(sign):02x})" for sign in secret
    )


def mask_of(remotes: Iterable[Remote]) -> Mask:
    """Return a function that masks the keys of these sources; one that is missing is not."""
    keys = list[Key]()
    for remote in remotes:
        with suppress(BuildError):
            keys += filter(None, [key_of(remote)])
    return lambda text: reduce(lambda result, key: key.mask(result), keys, text)


@contextmanager
def hide_keys(mask: Mask) -> Iterator[None]:
    """Mask keys in the BuildErrors of the block."""
    try:
        yield
    except BuildError as error:
        if mask(str(error)) == str(error):
            raise
        path, problem, remedy = map(mask, (error.path, error.problem, error.remedy))
        # Without its cause, whose text contains the key.
        raise BuildError(path, problem, line=error.line, remedy=remedy) from None


def key_of(remote: Remote) -> Key | None:
    """Read the key of a source; None if it needs none. BuildError if the key is missing."""
    if not (remote.key_env or remote.key_file):
        return None
    if remote.key_env:
        origin, text = f"the environment variable {remote.key_env}", os.environ.get(remote.key_env)
    else:
        origin, text = f"the file {remote.key_file}", _in_file(remote)
    text, is_basic = (text or "").strip(), remote.key_as == "basic"
    form, _, place = (remote.key_form or "user:password" * is_basic).partition(" ")
    parts = text.split(":", form.count(":"))
    is_other = len(parts) <= form.count(":") or not all(parts) or (place and " " in text)
    write = " ".join(filter(None, ("write", form or "the key", place)))
    for is_fault, problem in (
        (not text, f"no key for {remote.safe_uri} in {origin}"),
        (not _PRINTABLE.fullmatch(text), f"the key in {origin} is not one line of printable ASCII"),
        (is_other, f"the key in {origin} is not of the form {form}"),
    ):
        if is_fault:
            raise BuildError(remote.recipe, problem, remedy=write)
    return Key(text)


def _in_file(remote: Remote) -> str:
    path = remote.recipe.parent / remote.key_file
    try:
        with open_regular(path) as stream:
            return stream.read().decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a text"
        problem = f"the key of {remote.safe_uri} cannot be read ({reason})"
        # The text of a decoding error would contain the key.
        raise BuildError(path, problem, remedy="check the file") from None
