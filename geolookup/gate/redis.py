"""Accounts in Redis or Valkey, for workers on several machines.

Strategy: each decision is one script; the server runs it atomically. Time is the
server's: decisions read its clock, and this process's clock is adjusted to each reply.

An account is a hash ``geolookup:account:N`` (name, plan, created, used, recent) and the list of its
runs, ``geolookup:runs:N``; a key is a hash ``geolookup:key:DIGEST``. ``geolookup:accounts`` counts
the accounts; a server without it is new or has lost its data. The list ``geolookup:log`` is the
audit log, a JSON array for each entry.

In the scripts ARGV[1] is the time, Unix microseconds, or 0 for the clock of the server. Numbers are
integers below 2**53: Lua represents them exactly.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from geolookup.errors import AccountsError
from geolookup.gate.account_store import (
    EXHAUSTED,
    GONE,
    SECOND,
    Clock,
    Decision,
    Entry,
    Key,
    NewKey,
    Requests,
    Usage,
    wall_clock,
)
from geolookup.gate.redis_server import RedisServer

_NOW = """
local now = tonumber(ARGV[1])
if now == 0 then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
end
"""

#: KEYS account and runs of each account; ARGV now, then rate, limit and number of requests of each.
#: Returns now, then of each account how many are admitted, and why the others are not: see
#: ``account_store.Decision``.
#:
#: The rule of ``sqlite_admission``, by runs at every rate. The list alternates stamps and numbers.
_ADMIT_SCRIPT = f"""
{_NOW}
local function add(runs, stamp, count)  -- sqlite_admission._insert
    redis.call('RPUSH', runs, string.format('%.0f', stamp), string.format('%.0f', count))
end

local function decide(account, runs, rate, limit, number)
    local used = tonumber(redis.call('HGET', account, 'used') or '')
    if not used then return 0, {GONE} end
    -- A write: a server without memory refuses here, before anything changes.
    local recent = redis.call('HINCRBY', account, 'recent', 0)

    local moved = 0  -- sqlite_admission._move_to: the clock was set back
    while tonumber(redis.call('LINDEX', runs, -2) or '0') > now do
        moved = moved + tonumber(redis.call('RPOP', runs))
        redis.call('RPOP', runs)
    end
    if moved > 0 then add(runs, now, moved) end
    -- sqlite_admission._DROP
    while tonumber(redis.call('LINDEX', runs, 0) or now) <= now - {SECOND} do
        redis.call('LPOP', runs)
        recent = recent - tonumber(redis.call('LPOP', runs))
    end

    local admitted = math.max(0, math.min(number, rate - recent, limit - used))
    if admitted > 0 then add(runs, now, admitted) end
    used, recent = used + admitted, recent + admitted
    redis.call('HSET', account,
        'used', string.format('%.0f', used), 'recent', string.format('%.0f', recent))
    if admitted == number then return admitted, 0 end
    if recent < rate then return admitted, {EXHAUSTED} end
    local above, at = recent - rate, 0  -- sqlite_admission._next_free
    while above >= tonumber(redis.call('LINDEX', runs, at + 1)) do
        above = above - tonumber(redis.call('LINDEX', runs, at + 1))
        at = at + 2
    end
    return admitted, tonumber(redis.call('LINDEX', runs, at)) + {SECOND}
end

local reply = {{now}}
local argument = 2
for i = 1, #KEYS, 2 do
    local rate, limit, number = unpack(ARGV, argument, argument + 2)
    argument = argument + 3
    reply[i + 1], reply[i + 2] =
        decide(KEYS[i], KEYS[i + 1], tonumber(rate), tonumber(limit), tonumber(number))
end
return reply
"""

_COUNT = """
local accounts = redis.call('GET', 'geolookup:accounts')
if not accounts then return redis.error_reply('holds no accounts') end
"""
#: Returns the number of accounts.
_COUNT_SCRIPT = f"{_COUNT} return tonumber(accounts)"

#: KEYS key; ARGV now. Returns now, and environment, account, name, plan, created, expires,
#: revoked; or only now.
_FIND_SCRIPT = f"""
{_COUNT}{_NOW}
local key = redis.call('HMGET', KEYS[1], 'environment', 'account', 'created', 'expires', 'revoked')
if not key[2] then return {{now}} end
local account = redis.call('HMGET', 'geolookup:account:' .. key[2], 'name', 'plan')
if not account[2] then return redis.error_reply('the account of a key no longer exists') end
return {{now, key[1], key[2], account[1], account[2], key[3], key[4], key[5]}}
"""

#: ARGV digest, environment, name, plan, created, expires (0: never), entry of the audit log.
#: Returns the account's plan.
_ADD_SCRIPT = """
local number = redis.call('HGET', 'geolookup:names', ARGV[3])
local plan = number and redis.call('HGET', 'geolookup:account:' .. number, 'plan')
if number and not plan then return redis.error_reply('the account no longer exists') end
if number and plan ~= ARGV[4] then return plan end
-- First: a failed script keeps its writes, and no change may lack its entry.
redis.call('RPUSH', 'geolookup:log', ARGV[7])
if not number then
    number = redis.call('INCR', 'geolookup:accounts')
    redis.call('HSET', 'geolookup:names', ARGV[3], number)
    redis.call('HSET', 'geolookup:account:' .. number,
        'name', ARGV[3], 'plan', ARGV[4], 'created', ARGV[5], 'used', 0, 'keys', 0)
end
redis.call('HSET', 'geolookup:key:' .. ARGV[1], 'environment', ARGV[2],
    'account', number, 'created', ARGV[5], 'expires', ARGV[6], 'revoked', 0)
redis.call('RPUSH', 'geolookup:keys', ARGV[1])
redis.call('HINCRBY', 'geolookup:account:' .. number, 'keys', 1)
return ARGV[4]
"""

#: KEYS key; ARGV entry of the audit log. Writes in any case: WAITAOF waits for writes only.
_REVOKE_SCRIPT = """
if redis.call('HGET', KEYS[1], 'revoked') == '0' then
    redis.call('RPUSH', 'geolookup:log', ARGV[1])
end
redis.call('HSET', KEYS[1], 'revoked', 1)
"""


class RedisStore:
    """A store of ``redis://HOST:PORT/NUMBER``, or ``rediss://`` over TLS.

    The server's ``appendfsync`` decides which failures an acknowledged write survives. The counter
    of accounts marks a server that holds accounts: the first key creates it, and every
    read demands it, so a server that lost its data is unusable and refuses no key.
    """

    remote = True

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        self._own_clock = clock
        self._ahead: int | None = None  # microseconds: the server's clock less this machine's
        self._server = RedisServer(url)
        self._admit, self._find, self._add, self._revoke, self._count = map(
            self._server.script,
            (_ADMIT_SCRIPT, _FIND_SCRIPT, _ADD_SCRIPT, _REVOKE_SCRIPT, _COUNT_SCRIPT),
        )

    def now(self) -> int:
        """Return the estimated time of the server, Unix microseconds."""
        return self._own_clock() if self._own_clock else wall_clock() + (self._ahead or 0)

    def find(self, digest: bytes) -> Key | None:
        """Return the key with a digest."""
        sent_at = wall_clock()
        key = f"geolookup:key:{digest.hex()}"
        now, *members = self._server.run(self._find, [key], [self._time()])
        self._adjust(sent_at, now)
        with self._well_formed():
            return _key(digest, members) if members else None

    def admit(self, requests: Sequence[Requests]) -> list[Decision]:
        """Decide requests of accounts in one script; see ``Store``."""
        keys: list[str] = []
        arguments = [self._time()]
        for account, plan, number in requests:
            keys += f"geolookup:account:{account}", f"geolookup:runs:{account}"
            arguments += plan.rate, plan.limit, number
        sent_at = wall_clock()
        now, *decisions = self._server.run(self._admit, keys, arguments)
        self._adjust(sent_at, now)
        return list(map(Decision, decisions[::2], decisions[1::2]))

    def add(self, key: NewKey, entry: Entry) -> str:
        """Add and log a key if its account has the same plan or is new; return the plan."""
        ends = 0 if key.expires is None else max(1, key.expires)  # 0: never
        values = [key.digest.hex(), *key[1:5], ends, json.dumps(entry)]
        return str(self._server.run(self._add, [], values), "utf-8")

    def keys(self) -> list[Key]:
        """Return all keys, oldest first."""
        self._accounts()
        digests = self._server.command("LRANGE", "geolookup:keys", 0, -1)
        with self._well_formed():
            stored = (self.find(bytes.fromhex(text.decode())) for text in digests)
            return [key for key in stored if key is not None]

    def revoke(self, digest: bytes, entry: Entry) -> None:
        """Revoke a key for good; log it unless it was revoked before."""
        key = f"geolookup:key:{digest.hex()}"
        self._server.run_durably(self._revoke, [key], [json.dumps(entry)])

    def log(self) -> list[Entry]:
        """Return the audit log, oldest first."""
        self._accounts()
        lines = self._server.command("LRANGE", "geolookup:log", 0, -1)
        with self._well_formed():
            return [Entry(*json.loads(line)) for line in lines]

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
        with self._well_formed():
            return Usage(name.decode(), plan.decode(), int(created), int(used), int(keys))

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
        return self._own_clock() if self._own_clock else 0

    def _adjust(self, sent_at: int, now: int) -> None:
        """Adjust the clock by a reply: the server read its clock after the call, before the reply.

        The fastest reply decides. The estimate is never behind the server's clock, or a cached
        refusal would outlast its end.
        """
        least, most = now - wall_clock(), now - sent_at
        self._ahead = most if self._ahead is None else max(least, min(self._ahead, most))

    def _accounts(self) -> int:
        """Return the number of accounts; AccountsError if the server has none."""
        with self._well_formed():
            return int(self._server.run(self._count))

    @contextmanager
    def _well_formed(self) -> Iterator[None]:
        """Turn the error of a record that another program wrote into an AccountsError."""
        try:
            yield
        except (ValueError, TypeError):
            problem, remedy = "a record is malformed", "restore its data"
            raise AccountsError(self._server.name, problem, remedy) from None


def _key(digest: bytes, members: list[bytes]) -> Key:
    environment, account, name, plan, created, expires, revoked = members
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
