"""Accounts in Redis or Valkey, for workers on several machines.

Strategy: each decision is one script, which the server runs atomically. Time is the
server's: exact decisions read its clock, and leases adjust this process's clock to it. No
command is retried, because a request whose reply was lost may have been counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from geolookup.errors import AccountsError
from geolookup.gate import redis_scripts as scripts
from geolookup.gate.account_store import Clock, Key, NewKey, Request, Usage, wall_clock
from geolookup.gate.leases import Lease, Tokens
from geolookup.gate.plans import Plan

#: Seconds until a silent server counts as unreachable.
_TIMEOUT = 1.0


class RedisStore:
    """A store of ``redis://HOST:PORT/NUMBER``, or ``rediss://`` over TLS.

    The server's ``appendfsync`` decides what an acknowledged write survives.
    """

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        self._given = clock
        self._ahead = 0  # microseconds: the server's clock less this machine's
        self._client = _client(url)
        self._name = _without_password(self._client)
        self._admit, self._lease, self._take_back, self._find, self._add = (
            self._client.register_script(text)
            for text in (
                scripts.ADMIT, scripts.LEASE, scripts.TAKE_BACK, scripts.FIND, scripts.ADD,
            )
        )  # fmt: skip

    def now(self) -> int:
        """Return the estimated time of the server, Unix microseconds."""
        return self._given() if self._given else wall_clock() + self._ahead

    def find(self, digest: bytes) -> Key | None:
        """Return the key with a digest."""
        found = self._run(self._find, [f"geolookup:key:{digest.hex()}"], [])
        return _key(digest, found) if found else None

    def admit(self, requests: Sequence[Request]) -> list[int]:
        """Decide requests exactly, in order, in one pipeline; see ``Store``."""
        asked = [
            (
                [f"geolookup:account:{account}", f"geolookup:ring:{account}"],
                [self._time(), plan.rate, plan.limit],
            )
            for account, plan in requests
        ]
        if len(asked) == 1:
            return [int(self._run(self._admit, *asked[0]))]
        pipeline = self._client.pipeline(transaction=False)
        for keys, values in asked:
            self._admit(keys=keys, args=values, client=pipeline)
        try:
            return list(map(int, pipeline.execute()))
        except redis.RedisError as error:
            raise self._unusable(error) from None

    def lease(
        self, account: int, plan: Plan, worker: int, ripe: Tokens, unused: Sequence[Tokens]
    ) -> Lease:
        """Free ripe tokens, take back unused ones, and lease tokens for the current bucket."""
        values = [self._time(), plan.rate, plan.limit, worker, *ripe, *_flat(unused)]
        lease = Lease(*self._run(self._lease, [f"geolookup:account:{account}"], values))
        self._ahead = lease.now - wall_clock()
        return lease

    def take_back(self, account: int, unused: Sequence[Tokens]) -> None:
        """Take back unused tokens, in the rate and in the quota."""
        self._run(self._take_back, [f"geolookup:account:{account}"], _flat(unused))

    def add(self, key: NewKey) -> str:
        """Add a key if its account has the same plan or is new; return the account's plan."""
        values = [key.digest.hex(), *key[1:5], key.expires or 0]
        plan: bytes = self._run(self._add, [], values)
        return plan.decode()

    def keys(self) -> list[Key]:
        """Return all keys, oldest first."""
        digests = self._command("LRANGE", "geolookup:keys", 0, -1)
        found = (self.find(bytes.fromhex(text.decode())) for text in digests)
        return [key for key in found if key is not None]

    def revoke(self, digest: bytes) -> None:
        """Revoke a key for good."""
        self._command("HSET", f"geolookup:key:{digest.hex()}", "revoked", 1)

    def usage(self) -> list[Usage]:
        """Return all accounts, oldest first."""
        count = int(self._command("GET", "geolookup:accounts") or 0)
        members = "name", "plan", "created", "used", "keys"
        rows = (
            self._command("HMGET", f"geolookup:account:{number}", *members)
            for number in range(1, count + 1)
        )
        return [
            Usage(name.decode(), plan.decode(), int(created), int(used), int(keys))
            for name, plan, created, used, keys in rows
        ]

    def upkeep(self) -> None:
        """Do nothing: the server maintains itself."""

    def after_fork(self) -> None:
        """Do nothing: the client's connections detect a fork."""

    def close(self) -> None:
        """Close the store."""
        self._client.close()

    def _time(self) -> int:
        return self._given() if self._given else 0

    def _run(self, script: Any, keys: list[str], values: Sequence[object]) -> Any:
        try:
            return script(keys=keys, args=values)
        except redis.RedisError as error:
            raise self._unusable(error) from None

    def _command(self, *words: object) -> Any:
        try:
            return self._client.execute_command(*words)  # type: ignore[no-untyped-call]
        except redis.RedisError as error:
            raise self._unusable(error) from None

    def _unusable(self, error: redis.RedisError) -> AccountsError:
        return AccountsError(
            self._name, str(error), "check that the server runs and accepts writes"
        )


def _client(url: str) -> redis.Redis:
    try:
        return redis.Redis.from_url(
            url,
            socket_timeout=_TIMEOUT,
            socket_connect_timeout=_TIMEOUT,
            retry=Retry(NoBackoff(), 0),
        )
    except (ValueError, TypeError) as error:
        raise AccountsError("redis://", str(error), "write redis://HOST:PORT/NUMBER") from None


def _without_password(client: redis.Redis) -> str:
    parts = {"host": "localhost", "port": 6379, "db": 0, **client.connection_pool.connection_kwargs}
    return "redis://{host}:{port}/{db}".format(**parts)


def _flat(unused: Sequence[Tokens]) -> list[int]:
    return [number for tokens in unused for number in tokens]


def _key(digest: bytes, found: list[bytes]) -> Key:
    environment, account, name, plan, created, expires, revoked = found
    return Key(
        digest,
        environment.decode(),
        int(account),
        name.decode(),
        plan.decode(),
        int(created),
        int(expires) or None,
        revoked=revoked == b"1",
    )
