"""Accounts in Redis or Valkey, for workers on several machines.

Strategy: each decision is one script; the server runs it atomically. Time is the
server's: decisions read its clock, and this process's clock is adjusted to each reply.

An account is a hash ``geolookup:account:N`` (name, plan, created, keys) and the list of its runs,
``geolookup:runs:N``, which alternates used requests and stamps. A key is a hash
``geolookup:key:DIGEST``. ``geolookup:accounts`` counts the accounts; a server without it is new or
has lost its data. The list ``geolookup:log`` is the audit log, a JSON array for each entry.

In the scripts ARGV[1] is the time, Unix microseconds, or 0 for the clock of the server. Numbers are
integers below 2**53: Lua represents them exactly.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any

from redis.commands.core import Script

from geolookup.errors import AccountsError
from geolookup.gate.account_store import (
    EXHAUSTED,
    GONE,
    SECOND,
    Clock,
    Decision,
    Entry,
    Key,
    Requests,
    Usage,
    wall_clock,
)
from geolookup.gate.redis_server import RESTORE, RedisServer

_NOW = """
local now = tonumber(ARGV[1])
if now == 0 then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
end
"""

#: KEYS runs of each account; ARGV now, then rate, limit and number of requests of each account.
#: Returns now, then the members of each ``Decision``. Same rule as ``sqlite_admission``.
_ADMIT_SCRIPT = f"""
{_NOW}
local function at(runs, index)
    return tonumber(redis.call('LINDEX', runs, index))
end

-- The index of the first run whose member (0: used, 1: stamp) is above a value; both ascend.
local function first_above(runs, member, value)
    local low, high = 0, redis.call('LLEN', runs) / 2
    while low < high do
        local middle = math.floor((low + high) / 2)
        if at(runs, 2 * middle + member) > value then high = middle else low = middle + 1 end
    end
    return 2 * low
end

local function set_back(runs, newest)
    for index, stamp in ipairs(redis.call('LRANGE', runs, 0, -1)) do
        if index % 2 == 0 then
            stamp = tonumber(stamp)
            stamp = stamp <= newest - {SECOND} and 0 or math.min(stamp, now)
            redis.call('LSET', runs, index - 1, string.format('%.0f', stamp))
        end
    end
end

local function decide(runs, rate, limit, number)
    local used, newest = at(runs, -2), at(runs, -1)
    if not used then return 0, {GONE} end
    if newest > now then set_back(runs, newest) end
    local old = math.max(0, first_above(runs, 1, now - {SECOND}) - 2)
    local recent = used - at(runs, old)
    local admitted = math.max(0, math.min(number, rate - recent, limit - used))
    if admitted > 0 then
        used, recent = used + admitted, recent + admitted
        redis.call('RPUSH', runs, string.format('%.0f', used), string.format('%.0f', now))
        redis.call('LTRIM', runs, old, -1)
    end
    if admitted == number then return admitted, 0 end
    if recent < rate then return admitted, {EXHAUSTED} end
    return admitted, at(runs, first_above(runs, 0, used - rate) + 1) + {SECOND}
end

local reply = {{now}}
for i, runs in ipairs(KEYS) do
    local rate, limit, number = unpack(ARGV, 3 * i - 1, 3 * i + 1)
    reply[2 * i], reply[2 * i + 1] =
        decide(runs, tonumber(rate), tonumber(limit), tonumber(number))
end
return reply
"""

_COUNT = """
local accounts = redis.call('GET', 'geolookup:accounts')
if not accounts then return redis.error_reply('holds no accounts') end
"""
#: Returns the number of accounts.
_COUNT_SCRIPT = f"{_COUNT} return tonumber(accounts)"

#: KEYS keys; ARGV now. Returns now, and of each key environment, account, name, plan, created,
#: expires and revoked, or nil.
_FIND_SCRIPT = f"""
{_COUNT}{_NOW}
local reply = {{now}}
for i, name in ipairs(KEYS) do
    local key = redis.call('HMGET', name, 'environment', 'account', 'created', 'expires', 'revoked')
    local account = key[2] and redis.call('HMGET', 'geolookup:account:' .. key[2], 'name', 'plan')
    reply[i + 1] = account
        and {{key[1], key[2], account[1], account[2], key[3], key[4], key[5]}}
end
return reply
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
        'name', ARGV[3], 'plan', ARGV[4], 'created', ARGV[5], 'keys', 0)
    redis.call('RPUSH', 'geolookup:runs:' .. number, 0, 0)
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

#: Members of an account.
_MEMBERS = "name", "plan", "created", "keys"
#: The most keys that ``keys`` reads in one script.
_FOUND_TOGETHER = 512


class RedisStore(RedisServer):
    """A store of ``redis://HOST:PORT/NUMBER``, or ``rediss://`` over TLS.

    The server's ``appendfsync`` decides which failures an acknowledged write survives. The counter
    of accounts marks a server that holds accounts: the first key creates it, and every
    read demands it, so a server that lost its data is unusable and refuses no key.
    """

    remote = True

    def __init__(self, url: str, clock: Clock | None = None) -> None:
        super().__init__(url)
        self._own_clock = clock
        self._ahead: int | None = None  # microseconds: the server's clock less this machine's
        scripts = (_ADMIT_SCRIPT, _FIND_SCRIPT, _ADD_SCRIPT, _REVOKE_SCRIPT, _COUNT_SCRIPT)
        self._admit, self._find, self._add, self._revoke, self._count = map(
            self._client.register_script, scripts
        )

    def now(self) -> int:
        """Return the estimated time of the server, Unix microseconds."""
        return self._own_clock() if self._own_clock else wall_clock() + (self._ahead or 0)

    def find(self, digests: Sequence[bytes]) -> list[Key | AccountsError | None]:
        """Return the key with each digest; see ``Store``."""
        keys = [f"geolookup:key:{digest.hex()}" for digest in digests]
        return list(map(self._found, digests, self._ask(self._find, keys)))

    def _found(self, digest: bytes, record: list[bytes] | None) -> Key | AccountsError | None:
        try:
            with self.errors():
                return None if record is None else _key(digest, record)
        except AccountsError as error:
            return error

    def admit(self, requests: Sequence[Requests]) -> list[Decision]:
        """Decide requests of accounts in one script; see ``Store``."""
        keys = [f"geolookup:runs:{request.account}" for request in requests]
        limits = [(plan.rate, plan.limit, number) for _, plan, number in requests]
        decisions = self._ask(self._admit, keys, *chain.from_iterable(limits))
        return list(map(Decision, decisions[::2], decisions[1::2]))

    def _ask(self, script: Script, keys: Sequence[str], *arguments: int) -> list[Any]:
        """Run a script that returns the time first; return the rest of its reply."""
        sent_at = wall_clock()
        own_time = self._own_clock() if self._own_clock else 0
        reply: list[Any] = self.run(script, keys, [own_time, *arguments])
        self._adjust(sent_at, reply[0])
        return reply[1:]

    def _adjust(self, sent_at: int, now: int) -> None:
        """Adjust the clock by a reply: the server read its clock after the call, before the reply.

        The fastest reply decides. The estimate is never behind the server's clock, or a cached
        refusal would outlast its end.
        """
        least, most = now - wall_clock(), now - sent_at
        self._ahead = most if self._ahead is None else max(least, min(self._ahead, most))

    def add(self, key: Key, entry: Entry) -> str:
        """Add and log a key if its account has the same plan or is new; return the plan."""
        ends = 0 if key.expires is None else max(1, key.expires)  # 0: never
        values = [key.digest.hex(), key.environment, key.name, key.plan, key.created, ends]
        return str(self.run(self._add, [], [*values, json.dumps(entry)]), "utf-8")

    def keys(self) -> list[Key]:
        """Return all keys, oldest first."""
        self._accounts()
        texts = self.command("LRANGE", "geolookup:keys", 0, -1)
        with self.errors():
            digests = [bytes.fromhex(text.decode()) for text in texts]
        keys = []
        for begin in range(0, len(digests), _FOUND_TOGETHER):
            for key in self.find(digests[begin : begin + _FOUND_TOGETHER]):
                if not isinstance(key, Key):
                    raise key or AccountsError(self.name, "a key is lost", RESTORE)
                keys.append(key)
        return keys

    def revoke(self, digest: bytes, entry: Entry) -> None:
        """Revoke a key for good; log it unless it was revoked before."""
        key = f"geolookup:key:{digest.hex()}"
        self.run_durably(self._revoke, [key], [json.dumps(entry)])

    def log(self) -> list[Entry]:
        """Return the audit log, oldest first."""
        self._accounts()
        lines = self.command("LRANGE", "geolookup:log", 0, -1)
        with self.errors():
            return [Entry(*json.loads(line)) for line in lines]

    def usage(self) -> list[Usage]:
        """Return all accounts, oldest first."""
        return [self._usage(number) for number in range(1, self._accounts() + 1)]

    def _usage(self, number: int) -> Usage:
        account = f"geolookup:account:{number}"
        name, plan, created, keys = self.command("HMGET", account, *_MEMBERS)
        used = self.command("LINDEX", f"geolookup:runs:{number}", -2)
        if None in (name, plan, created, keys, used):
            raise AccountsError(self.name, "an account is lost", RESTORE)
        with self.errors():
            return Usage(name.decode(), plan.decode(), int(created), int(used), int(keys))

    def probe(self) -> None:
        """Ask the server whether it holds accounts, also while requests fail at once."""
        with self.errors():
            self._count()
        self._outage.over()

    def _accounts(self) -> int:
        """Return the number of accounts; AccountsError if the server has none."""
        with self.errors():
            return int(self.run(self._count))


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
