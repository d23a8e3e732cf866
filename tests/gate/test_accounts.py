"""Keys and accounts in every store: who is let in, and what is kept of whom."""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import (
    AccountsError,
    InvalidKeyError,
    MissingKeyError,
    PlansError,
    QuotaError,
    RateLimitError,
)
from geolookup.gate import accounts as accounts_module
from geolookup.gate import keys, open_accounts
from geolookup.gate.account_store import Key
from tests.gate.conftest import START, FakeClock, Open
from tests.gate.sliding_log import SECOND


def refused(accounts: accounts_module.Accounts, key: object) -> bool:
    try:
        accounts.admit(key)
    except InvalidKeyError:
        return True
    return False


def test_missing_and_wrong_keys(worker: Open) -> None:
    accounts = worker()
    good = accounts.create_key("Acme", "free")
    with pytest.raises(MissingKeyError):
        accounts.admit(None)
    for wrong in ("", "x", 5, good[:-1], f"{good},{good}", keys.make("live"), keys.make("test")):
        assert refused(accounts, wrong)
    assert not refused(accounts, good)
    assert [account.used for account in accounts.usage()] == [1]


def test_a_revoked_key_is_refused_everywhere_within_a_second(
    worker: Open, clock: FakeClock
) -> None:
    accounts, elsewhere = worker(), worker()
    key, other = accounts.create_key("Acme", "paid"), accounts.create_key("Acme", "paid")
    elsewhere.admit(key)
    assert accounts.revoke(keys.identifier(keys.digest(key) or b"")).name == "Acme"
    clock.now += SECOND
    for one in accounts, elsewhere:
        assert refused(one, key)
        assert not refused(one, other)
    found = accounts.keys()
    assert [one.revoked for one in found].count(True) == 1
    with pytest.raises(KeyError):
        accounts.revoke("0" * 12)


def test_an_expired_key_is_refused_at_once(worker: Open, clock: FakeClock) -> None:
    accounts = worker()
    key = accounts.create_key("Acme", "paid", expires=START // SECOND + 10)
    clock.now = START + 10 * SECOND - 1
    assert not refused(accounts, key)
    clock.now += 1
    assert refused(accounts, key)
    for past in (0, -SECOND):
        assert refused(accounts, accounts.create_key("Acme", "paid", expires=past))


def test_keys_of_an_account_share_rate_and_quota_test_keys_too(
    worker: Open, clock: FakeClock
) -> None:
    accounts = worker()
    pair = [accounts.create_key("Acme", "tiny", environment=env) for env in keys.ENVIRONMENTS]
    other = accounts.create_key("Other", "tiny")
    for number in range(3):
        accounts.admit(pair[number % 2])
    for key in pair:
        with pytest.raises(RateLimitError):
            accounts.admit(key)
    accounts.admit(other)
    for _ in range(17):
        clock.now += SECOND
        accounts.admit(pair[0])
    clock.now += SECOND
    for key in pair:
        with pytest.raises(QuotaError):
            accounts.admit(key)
    assert {(one.name, one.used, one.keys) for one in accounts.usage()} == {
        ("Acme", 20, 2),
        ("Other", 1, 1),
    }


def test_the_free_plan_is_2000_for_life_at_5_a_second(worker: Open, clock: FakeClock) -> None:
    workers = [worker() for _ in range(6)]
    key = workers[0].create_key("Acme", "free")
    admitted = 0
    for _ in range(402):
        for one in workers:
            try:
                one.admit(key)
                admitted += 1
            except (RateLimitError, QuotaError):
                pass
        clock.now += SECOND
    assert admitted == 2000
    clock.now += 10**9 * SECOND
    with pytest.raises(QuotaError):
        workers[3].admit(key)


def test_a_flood_of_refused_requests_does_not_reach_the_store(
    worker: Open, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    accounts = worker()
    slow, fast = accounts.create_key("Slow", "tiny"), accounts.create_key("Fast", "fast")
    calls: list[str] = []

    def counted(name: str) -> Callable[..., object]:
        method = getattr(accounts._store, name)

        def call(*args: object) -> object:
            calls.append(name)
            return method(*args)

        return call

    for name in ("find", "admit", "lease", "take_back"):
        monkeypatch.setattr(accounts._store, name, counted(name))
    for key in (slow, fast):
        for _ in range(1100):
            with suppress(RateLimitError):
                accounts.admit(key)
        before = len(calls)
        for _ in range(1000):
            clock.now += 5
            with pytest.raises(RateLimitError):
                accounts.admit(key)
        assert len(calls) == before


@pytest.mark.long
def test_a_hundred_thousand_wrong_keys_change_nothing_for_a_good_one(
    file: Path, clock: FakeClock
) -> None:
    accounts = open_accounts(f"sqlite:///{file}", clock=clock)
    good = accounts.create_key("Acme", "free")
    accounts.admit(good)
    kept = set(vars(accounts)["_cache"])
    for number in range(100_000):
        # Nine in ten are told by their checksum, as 2**32 - 1 in 2**32 would be.
        assert refused(
            accounts, keys.make("live") if number % 10 == 0 else f"{good[:41]}{number:08x}"
        )
    assert set(vars(accounts)["_cache"]) == kept
    accounts.admit(good)
    assert accounts.usage()[0].used == 2
    accounts.close()


class Secret(str):
    """A text that fails the test where it is compared, hashed, searched or cut."""

    __slots__ = ()

    def _refuse(self, *_: object) -> Any:
        raise AssertionError("the text of a key was compared")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _refuse
    __contains__ = __getitem__ = __iter__ = startswith = endswith = find = index = _refuse


def test_keys_are_compared_in_constant_time_and_by_digest_only(
    worker: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store is asked by digest, and what it finds is compared by compare_digest."""
    accounts = worker()
    good, other = accounts.create_key("Acme", "free"), accounts.create_key("Other", "free")
    digest, of_other = (hashlib.sha256(key.encode()).digest() for key in (good, other))
    compared: list[tuple[bytes, bytes]] = []
    asked: list[bytes] = []
    find = accounts._store.find

    def compare(one: bytes, two: bytes) -> bool:
        compared.append((one, two))
        return hmac.compare_digest(one, two)

    def answer(wanted: bytes) -> Key | None:
        asked.append(wanted)
        return find(digest)  # whatever is asked for

    monkeypatch.setattr(accounts_module, "compare_digest", compare)
    monkeypatch.setattr(accounts._store, "find", answer)
    accounts.admit(Secret(good))
    accounts.admit(Secret(good))  # from the cache
    assert (asked, compared) == ([digest], [(digest, digest)] * 2)
    assert refused(accounts, Secret(other))
    assert (asked[1:], compared[2:]) == ([of_other], [(digest, of_other)])


def test_a_key_is_nowhere_but_with_its_owner(
    tmp_path: Path, clock: FakeClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with open_accounts(f"sqlite:///{tmp_path}/a.db", clock=clock) as accounts:
        key = accounts.create_key("Acme", "free")
        accounts.admit(key)
        shown = repr((accounts.keys(), accounts.usage(), vars(accounts)))
        stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    stored += b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"Acme" in stored
    for part in (key, key[9:41], key[20:30]):
        assert part not in shown + caplog.text
        assert part.encode() not in stored


def test_redis_holds_no_key(emptied: str) -> None:
    import redis

    with open_accounts(emptied) as accounts, redis.Redis.from_url(emptied) as client:
        key = accounts.create_key("Acme", "free")
        accounts.admit(key)
        names = client.keys()
        stored = b"".join(name + client.dump(name) for name in names)
    assert b"Acme" in stored
    assert key[9:41].encode() not in stored
    assert key[20:30].encode() not in stored


def test_what_no_key_is_made_for(worker: Open) -> None:
    accounts = worker()
    accounts.create_key("Acme", "free")
    for name, plan, environment, says in (
        ("", "free", "live", "a key has"),
        (" ", "free", "live", "a key has"),
        ("x", "free", "prod", "a key has"),
        ("Acme", "paid", "live", "Acme"),
    ):
        with pytest.raises(ValueError, match=says):
            accounts.create_key(name, plan, environment=environment)
    with pytest.raises(PlansError, match="no plan 'none'"):
        accounts.create_key("x", "none")
    assert len(accounts.keys()) == 1


def test_an_account_whose_plan_is_unknown_here_is_no_open_gate(url: str, worker: Open) -> None:
    key = worker().create_key("Acme", "tiny")
    with open_accounts(url) as without_file, pytest.raises(AccountsError, match="plan 'tiny'"):
        without_file.admit(key)


def test_more_keys_than_are_kept_known(worker: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accounts_module, "_CACHED_KEYS", 3)
    accounts = worker()
    made = [accounts.create_key(f"account {n}", "endless") for n in range(8)]
    for key in made * 3:
        accounts.admit(key)
        assert len(accounts._cache) <= 3
    accounts.close()
    assert [account.used for account in accounts.usage()] == [3] * 8
