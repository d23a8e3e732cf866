"""The atomic steps of the gate as Lua scripts: ``sliding_window`` and ``leases`` for Redis.

Numbers are integers below 2**53, which Lua represents exactly. An account is a hash
``geolookup:account:N`` (name, plan, created, used, slots) and a list of the
stamps of its last admissions, ``geolookup:ring:N``; a key is a hash
``geolookup:key:DIGEST``. ``geolookup:accounts`` counts the accounts; a server without
it is new or has lost its data. ARGV[1] is the time, Unix microseconds, or 0 for the
clock of the server.
"""

from __future__ import annotations

from geolookup.gate.account_store import EXHAUSTED, GONE
from geolookup.gate.leases import BUCKET, BUCKETS, FREE_DIVISOR, LEASE_DIVISOR, RATE_DIVISOR
from geolookup.gate.sliding_window import SECOND

_NOW = """
local now = tonumber(ARGV[1])
if now == 0 then
    local time = redis.call('TIME')
    now = time[1] * 1000000 + time[2]
end
"""
_USED = """
local used = tonumber(redis.call('HGET', KEYS[1], 'used') or '')
if not used then return redis.error_reply('the account no longer exists') end
"""

#: KEYS account, ring; ARGV now, rate, limit. Returns now, and 0, -1 (quota), -2 (no such
#: account) or the time of a retry.
ADMIT = f"""
{_NOW}
local used = tonumber(redis.call('HGET', KEYS[1], 'used') or '')
if not used then return {{now, {GONE}}} end
local rate, limit = tonumber(ARGV[2]), tonumber(ARGV[3])
local last = tonumber(redis.call('LINDEX', KEYS[2], -1) or '0')
if last > now then  -- the clock was set back
    local stamps = redis.call('LRANGE', KEYS[2], 0, -1)
    redis.call('DEL', KEYS[2])
    for _, stamp in ipairs(stamps) do
        redis.call('RPUSH', KEYS[2], string.format('%.0f', math.min(tonumber(stamp), now)))
    end
end
local free = tonumber(redis.call('LINDEX', KEYS[2], -rate) or '0') + {SECOND}
if free > now then return {{now, free}} end
if used >= limit then return {{now, {EXHAUSTED}}} end
redis.call('HINCRBY', KEYS[1], 'used', 1)
redis.call('RPUSH', KEYS[2], string.format('%.0f', now))
redis.call('LTRIM', KEYS[2], -rate, -1)
return {{now, 0}}
"""

#: ARGV from ``first`` on: pairs of bucket and unused tokens.
#: ``slots`` is packed: bucket, owner, since, again, counts (see ``leases.Table``).
_TAKE_BACK = """
local stored = redis.call('HGET', KEYS[1], 'slots')
local bucket, owner, since, again, counts = 0, 0, 0, 0, {}
if stored then bucket, owner, since, again, counts = unpack(cmsgpack.unpack(stored)) end
for place = 1, BUCKETS do counts[place] = counts[place] or 0 end
local function free(from, tokens)
    local place = from - bucket + BUCKETS
    if from <= again then return end
    if place >= 1 and place <= BUCKETS then counts[place] = math.max(0, counts[place] - tokens) end
end
for at = first, #ARGV, 2 do
    local tokens = tonumber(ARGV[at + 1])
    free(tonumber(ARGV[at]), tokens)
    used = math.max(0, used - tokens)
end
"""
_WRITE = """
redis.call('HSET', KEYS[1], 'used', string.format('%.0f', used),
    'slots', cmsgpack.pack({bucket, owner, since, again, counts}))
"""

#: KEYS account; ARGV pairs of bucket and tokens.
TAKE_BACK = f"""
local BUCKETS, first = {BUCKETS}, 1
{_USED}{_TAKE_BACK}{_WRITE}
return 0
"""

#: KEYS account; ARGV now, rate, limit, worker, bucket and number of ripe tokens, then unused ones.
#: Returns now, fresh, moved, until.
LEASE = f"""
local BUCKET, BUCKETS, first = {BUCKET}, {BUCKETS}, 7
{_NOW}{_USED}{_TAKE_BACK}
free(tonumber(ARGV[5]), tonumber(ARGV[6]))
local rate, limit, worker = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local current = math.floor(now / BUCKET)
local turned, sum, oldest = {{}}, 0, 0
for place = 1, BUCKETS do turned[place] = 0 end
for place = 1, BUCKETS do
    local to = math.min(bucket - current + place, BUCKETS)
    if to >= 1 then turned[to] = turned[to] + counts[place] end
end
if current < bucket then since, again = math.min(since, current), math.max(again, bucket) end
bucket, counts = current, turned
for place = BUCKETS, 1, -1 do
    sum = sum + counts[place]
    if counts[place] > 0 then oldest = place end
end
if worker ~= owner then
    owner, since = worker, sum > 0 and bucket or 0
end
local left, room = math.max(0, limit - used), math.max(0, rate - sum)
local spare = math.max(0, left - rate)
local slice = math.max(math.floor(room / {FREE_DIVISOR}), math.floor(rate / {RATE_DIVISOR}))
local fresh, moved, till = math.min(room, left, math.max(1, math.min(spare, slice))), 0, 0
local more = math.min(spare, math.max(1, math.floor(rate / {LEASE_DIVISOR}))) - fresh
local alone = math.max(since, again) < bucket - BUCKETS + 1
if alone and room < counts[1] then moved = math.max(0, math.min(counts[1], more)) end
if room == 0 then till = (bucket + oldest) * BUCKET end
counts[1] = counts[1] - moved
counts[BUCKETS] = counts[BUCKETS] + fresh + moved
used = used + fresh + moved
{_WRITE}
return {{now, fresh, moved, till}}
"""

_COUNT = """
local accounts = redis.call('GET', 'geolookup:accounts')
if not accounts then return redis.error_reply('holds no accounts') end
"""
#: Returns the number of accounts.
COUNT = f"{_COUNT} return tonumber(accounts)"

#: KEYS key; ARGV now. Returns now, and environment, account, name, plan, created, expires,
#: revoked; or now alone.
FIND = f"""
{_COUNT}{_NOW}
local key = redis.call('HMGET', KEYS[1], 'environment', 'account', 'created', 'expires', 'revoked')
if not key[2] then return {{now}} end
local account = redis.call('HMGET', 'geolookup:account:' .. key[2], 'name', 'plan')
if not account[2] then return redis.error_reply('the account of a key no longer exists') end
return {{now, key[1], key[2], account[1], account[2], key[3], key[4], key[5]}}
"""

#: ARGV digest, environment, name, plan, created, expires (0: never). Returns the account's plan.
ADD = """
local number = redis.call('HGET', 'geolookup:names', ARGV[3])
if not number then
    number = redis.call('INCR', 'geolookup:accounts')
    redis.call('HSET', 'geolookup:names', ARGV[3], number)
    redis.call('HSET', 'geolookup:account:' .. number,
        'name', ARGV[3], 'plan', ARGV[4], 'created', ARGV[5], 'used', 0, 'keys', 0)
end
local plan = redis.call('HGET', 'geolookup:account:' .. number, 'plan')
if plan == ARGV[4] then
    redis.call('HSET', 'geolookup:key:' .. ARGV[1], 'environment', ARGV[2],
        'account', number, 'created', ARGV[5], 'expires', ARGV[6], 'revoked', 0)
    redis.call('RPUSH', 'geolookup:keys', ARGV[1])
    redis.call('HINCRBY', 'geolookup:account:' .. number, 'keys', 1)
end
return plan
"""
