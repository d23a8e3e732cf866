"""The URL of an account store, and the password of a Redis server beside it.

A URL may have a password. So no error repeats it, and the list of processes should not show it.
"""

from __future__ import annotations

import os
from urllib.parse import SplitResult, urlsplit

from geolookup.errors import AccountsError
from geolookup.filesystem import open_regular

#: Environment variables: the password of a Redis server, or the file that has it.
PASSWORD, PASSWORD_FILE = "GEOLOOKUP_REDIS_PASSWORD", "GEOLOOKUP_REDIS_PASSWORD_FILE"
_REMEDY = f"set ${PASSWORD_FILE} to a file with a password"


def split(url: str) -> SplitResult:
    """Return the parts of a URL; AccountsError if it is not one."""
    try:
        return urlsplit(url)
    except ValueError:
        raise unknown_store() from None


def unknown_store() -> AccountsError:
    """Return the error for a text that is not the URL of a store."""
    return AccountsError(
        "accounts", "not the URL of a store", "write sqlite:///PATH or redis://HOST:PORT/0"
    )


def redis_password() -> str | None:
    """Return the password of a Redis server that the environment states, or None."""
    password, file = os.environ.get(PASSWORD), os.environ.get(PASSWORD_FILE)
    if password is not None and file is not None:
        raise AccountsError(f"${PASSWORD_FILE}", f"${PASSWORD} is set too", "unset one of them")
    if file is not None:
        try:
            with open_regular(file) as stream:
                # An editor ends the last line.
                password = stream.read().decode().removesuffix("\n").removesuffix("\r")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8"
            problem = f"{file} cannot be read ({reason})"
            raise AccountsError(f"${PASSWORD_FILE}", problem, _REMEDY) from None
    if password == "":
        variable = PASSWORD if file is None else PASSWORD_FILE
        raise AccountsError(f"${variable}", "the password is empty", _REMEDY)
    return password
