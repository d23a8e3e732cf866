"""A Redis or Valkey server: its commands, scripts and errors, and whether its writes survive it.

No command is retried: the server may have counted a request whose reply was lost.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import parse_qsl

import redis
from redis.backoff import NoBackoff
from redis.commands.core import Script
from redis.retry import Retry

from geolookup.errors import AccountsError
from geolookup.filesystem import open_regular
from geolookup.gate.account_store import split_url
from geolookup.gate.store_health import PAUSE, Outage

#: Environment variables: the password, or the file that has it. A URL is in the list of processes.
PASSWORD, PASSWORD_FILE = "GEOLOOKUP_REDIS_PASSWORD", "GEOLOOKUP_REDIS_PASSWORD_FILE"
_REMEDY = f"set ${PASSWORD_FILE} to a file with a password"
RESTORE = "restore its data"
#: Seconds until a silent server counts as unreachable.
_TIMEOUT = 1.0
#: Seconds of an outage: the next probe connects and waits for an answer, with time for its thread.
_REMEMBERED = PAUSE + 2 * _TIMEOUT + 0.5
#: Milliseconds of one wait for the disk, below the timeout, and the number of waits.
_SYNC_WAIT, _SYNC_WAITS = 500, 10
#: Settings that make a server lose or evict acknowledged writes, and the setting to use.
_FORGETS = {
    "appendonly": (("no",), "appendonly yes"),
    "appendfsync": (("no",), "appendfsync everysec"),
    "maxmemory-policy": (("allkeys-lru", "allkeys-lfu", "allkeys-random"), "noeviction"),
}
#: Options of a URL. Others of the client would change how replies are read.
_OPTIONS = {
    *("socket_timeout", "socket_connect_timeout", "ssl_ca_certs", "ssl_certfile", "ssl_keyfile"),
    *("ssl_cert_reqs", "ssl_check_hostname"),
}
_DATABASE = re.compile(r"(?:/[0-9]*)?")
_FORM = (
    "write redis://HOST:PORT/NUMBER; in a password percent-encode / ? # @ and %,"
    f" or put it into ${PASSWORD} or the file ${PASSWORD_FILE}"
)
#: The warning about a server that answers before a revocation is on its disk.
_UNCONFIRMED = (
    "{}: appendfsync is everysec, and WAITAOF is missing (Redis 7.2, Valkey), so a crash can undo"
    " the revocations of the last two seconds; set 'appendfsync always', or update the server"
)
#: The warning about a server that refuses CONFIG.
_UNSHOWN = (
    "{}: does not show its settings; check that it has 'appendonly yes', 'appendfsync everysec' or"
    " 'always', and 'maxmemory-policy noeviction'"
)


class RedisServer:
    """The server of ``redis://HOST:PORT/NUMBER``. Every method raises AccountsError."""

    def __init__(self, url: str) -> None:
        self._client = _client(url)
        parts = {"host": "localhost", "port": 6379, "db": 0}
        parts |= self._client.connection_pool.connection_kwargs
        self.name = "redis://{host}:{port}/{db}".format(**parts)  # without a password
        self._outage = Outage(_REMEMBERED)

    def run(self, script: Script, keys: Sequence[str] = (), arguments: Sequence[Any] = ()) -> Any:
        """Run a script; return its reply."""
        self._outage.check()
        with self.errors():
            return script(keys=keys, args=arguments)

    def command(self, *words: object) -> Any:
        """Run a command; return its reply."""
        self._outage.check()
        with self.errors():
            return self._client.execute_command(*words)  # type: ignore[no-untyped-call]

    def run_durably(self, script: Script, keys: Sequence[str], arguments: Sequence[Any]) -> None:
        """Run a script, and wait until the server's disk has its writes, if it supports WAITAOF."""
        # WAITAOF is about the writes of its own connection.
        with self.errors(), self._client.client() as connection:  # type: ignore[no-untyped-call]
            script(keys=keys, args=arguments, client=connection)
            for _ in range(_SYNC_WAITS):
                # redis.ResponseError: older than Redis 7.2, or without an append-only file
                with suppress(redis.ResponseError):
                    wait = connection.execute_command("WAITAOF", 1, 0, _SYNC_WAIT)
                    if wait[0] == 0:
                        continue
                return
        raise AccountsError(
            self.name, "the change is not on its disk yet", "check the server's disk and log"
        )

    def check_durability(self) -> str | None:
        """Return None if revocations survive a crash of the server, a warning if they may not.

        With ``appendfsync everysec`` a crash can undo the changes of two seconds that did not
        wait for WAITAOF. Raises AccountsError if the server may lose or evict older ones.
        """
        with self.errors():
            try:
                settings = self._client.config_get()
            except redis.ResponseError:
                return _UNSHOWN.format(self.name)
            for name, (forgets, setting) in _FORGETS.items():
                value = settings.get(name)
                # Without a limit of memory nothing is evicted.
                applies = name != "maxmemory-policy" or settings.get("maxmemory", "0") != "0"
                if applies and value in forgets:
                    raise AccountsError(
                        self.name,
                        f"{name} is {value}, so a crash or a full memory can undo revocations",
                        f"set '{setting}' in its configuration, or with CONFIG SET",
                    )
            if settings.get("appendfsync") == "always":
                return None
            with suppress(redis.ResponseError):  # no WAITAOF: see run_durably
                self._client.execute_command("WAITAOF", 0, 0, 0)  # type: ignore[no-untyped-call]
                return None
        return _UNCONFIRMED.format(self.name)

    def after_fork(self) -> None:
        """Reset the state of the parent in a child process."""
        self._outage = Outage(_REMEMBERED)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors of the client, and of a record that another program wrote."""
        try:
            yield
        except redis.RedisError as error:
            raise self._unusable(error) from None
        except (ValueError, TypeError, AttributeError):
            raise AccountsError(self.name, "a record is malformed", RESTORE) from None

    def _unusable(self, error: redis.RedisError) -> AccountsError:
        # redis-py ends some texts with a full stop.
        problem = str(error).removesuffix(".")
        remedy = "check that the server runs and accepts writes"
        if "no accounts" in str(error):
            remedy = f"{RESTORE}, or create a key with 'geolookup accounts keys create'"
        if isinstance(error, redis.AuthenticationError):
            if self._client.connection_pool.connection_kwargs.get("password") is None:
                problem = "the server demands a password"
            remedy = f"put the password into ${PASSWORD} or the file ${PASSWORD_FILE}"
        unusable = AccountsError(self.name, problem, remedy)
        if isinstance(error, redis.ConnectionError | redis.TimeoutError):
            self._outage.note(unusable)
        return unusable


def _client(url: str) -> redis.Redis:
    parts = split_url(url)
    # Without the texts of other errors: they may have a part of a password.
    malformed = AccountsError(
        f"{parts.scheme}://", "not the URL of a server, or has an unknown option", _FORM
    )
    options = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
    if not (parts.hostname and _DATABASE.fullmatch(parts.path) and options <= _OPTIONS):
        raise malformed
    try:
        client = redis.Redis.from_url(
            url,
            password=_password(),  # the URL's has precedence
            socket_timeout=_TIMEOUT,
            socket_connect_timeout=_TIMEOUT,
            retry=Retry(NoBackoff(), 0),
        )
        pool = client.connection_pool
        pool.connection_class(**pool.connection_kwargs)  # checks the options; does not connect
    except (ValueError, TypeError):
        raise malformed from None
    return client


def _password() -> str | None:
    """Return the password that the environment has, or None."""
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
