"""Accounts in Redis or Valkey, for workers on several machines.

Strategy: each decision is one script, which the server runs atomically. Time is the
server's: decisions read its clock, and this process's clock is adjusted to each reply.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir

from geolookup.errors import AccountsError
from geolookup.gate import redis_scripts as scripts
from geolookup.gate.account_store import Clock, Key, NewKey, Request, Usage, wall_clock
from geolookup.gate.leases import Lease, Tokens
from geolookup.gate.plans import Plan
from geolookup.gate.redis_server import RedisServer


class RedisStore:
    """A store of ``redis://HOST:PORT/NUMBER``, or ``rediss://`` over TLS.

    The server's ``appendfsync`` decides what an acknowledged write survives. The counter
    of accounts marks a server that holds accounts: the first key creates it, and every
    read demands it, so a server that lost its data is unusable and refuses no key.
    """

    remote = True

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        self._given = clock
        self._ahead: int | None = None  # microseconds: the server's clock less this machine's
        self._server = RedisServer(url)
        self._admit, self._lease, self._take_back, self._find, self._add, self._count = map(
            self._server.script,
            (
                *(scripts.ADMIT, scripts.LEASE, scripts.TAKE_BACK),
                *(scripts.FIND, scripts.ADD, scripts.COUNT),
            ),
        )

    def now(self) -> int:
        """Return the estimated time of the server, Unix microseconds."""
        return self._given() if self._given else wall_clock() + (self._ahead or 0)

    def find(self, digest: bytes) -> Key | None:
        """Return the key with a digest."""
        call = self._find, [f"geolookup:key:{digest.hex()}"], [self._time()]
        asked = wall_clock()
        ((now, *found),) = self._server.run(call)
        self._adjust(asked, now)
        return _key(digest, found) if found else None

    def admit(self, requests: Sequence[Request]) -> list[int]:
        """Decide requests exactly, in order, in one pipeline; see ``Store``."""
        calls = [
            (
                self._admit,
                [f"geolookup:account:{account}", f"geolookup:ring:{account}"],
                [self._time(), plan.rate, plan.limit],
            )
            for account, plan in requests
        ]
        asked = wall_clock()
        replies = self._server.run(*calls)
        self._adjust(asked, replies[-1][0])
        return [free for _, free in replies]

    def lease(
        self, account: int, plan: Plan, worker: int, ripe: Tokens, unused: Sequence[Tokens]
    ) -> Lease:
        """Free ripe tokens, take back unused ones, and lease tokens for the current bucket."""
        values = [self._time(), plan.rate, plan.limit, worker, *ripe, *_flat(unused)]
        asked = wall_clock()
        (reply,) = self._server.run((self._lease, [f"geolookup:account:{account}"], values))
        lease = Lease(*reply)
        self._adjust(asked, lease.now)
        return lease

    def take_back(self, account: int, unused: Sequence[Tokens]) -> None:
        """Take back unused tokens, in the rate and in the quota."""
        call = self._take_back, [f"geolookup:account:{account}"], _flat(unused)
        self._server.run(call)

    def leases_folder(self) -> Path:
        """Return the folder of this machine where processes record the tokens that they hold."""
        user = "" if sys.platform == "win32" else os.geteuid()
        server = sha256(self._server.name.encode()).hexdigest()[:16]
        return Path(gettempdir(), f"geolookup-leases-{user}-{server}")

    def add(self, key: NewKey) -> str:
        """Add a key if its account has the same plan or is new; return the account's plan."""
        ends = 0 if key.expires is None else max(1, key.expires)  # 0: never
        values = [key.digest.hex(), *key[1:5], ends]
        (plan,) = self._server.run((self._add, [], values))
        return str(plan, "utf-8")

    def keys(self) -> list[Key]:
        """Return all keys, oldest first."""
        self._accounts()
        digests = self._server.command("LRANGE", "geolookup:keys", 0, -1)
        found = (self.find(bytes.fromhex(text.decode())) for text in digests)
        return [key for key in found if key is not None]

    def revoke(self, digest: bytes) -> None:
        """Revoke a key for good."""
        self._server.change("HSET", f"geolookup:key:{digest.hex()}", "revoked", 1)

    def usage(self) -> list[Usage]:
        """Return all accounts, oldest first."""
        members = "name", "plan", "created", "used", "keys"
        rows = (
            self._server.command("HMGET", f"geolookup:account:{number}", *members)
            for number in range(1, self._accounts() + 1)
        )
        return [self._usage(row) for row in rows]

    def _usage(self, row: list[bytes | None]) -> Usage:
        if None in row:
            raise AccountsError(self._server.name, "an account is lost", "restore its data")
        name, plan, created, used, keys = (value or b"" for value in row)
        return Usage(name.decode(), plan.decode(), int(created), int(used), int(keys))

    def upkeep(self) -> None:
        """Do nothing: the server maintains itself."""

    def probe(self) -> None:
        """Ask the server whether it holds accounts."""
        self._server.probe(self._count)

    def after_fork(self) -> None:
        """Reset in a child process; the client's connections detect a fork themselves."""
        self._server.after_fork()

    def check_durability(self) -> str | None:
        """Check the server's settings; see ``Store``."""
        return self._server.check_durability()

    def close(self) -> None:
        """Close the store."""
        self._server.close()

    def _time(self) -> int:
        return self._given() if self._given else 0

    def _adjust(self, asked: int, now: int) -> None:
        """Adjust the clock by a reply: the server read its clock after the call, before the reply.

        The fastest reply decides. The estimate is never behind the server's clock,
        or a token would be used after its bucket.
        """
        least, most = now - wall_clock(), now - asked
        self._ahead = most if self._ahead is None else max(least, min(self._ahead, most))

    def _accounts(self) -> int:
        """Return the number of accounts; AccountsError if there is none."""
        return int(self._server.run((self._count, [], []))[0])


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
