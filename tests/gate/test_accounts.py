"""Keys and accounts in every store: who is let in, what is kept of whom; all codes, in order."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import Mock, call

import pytest

from geolookup import errors
from geolookup.errors import InvalidKeyError, QuotaError, RateLimitError
from geolookup.gate import open_accounts, read_plans
from tests.gate.conftest import SECOND, START, FakeClock, Open, counted, of, outcomes
from tests.internals.gate import Key, admissions, keys
from tests.skips import optional


def test_missing_and_wrong_keys(worker: Open) -> None:
    accounts = worker()
    good = accounts.create_key("Acme", "free")
    wrong = ("", "x", 5, good[:-1], f"{good},{good}", keys.make("live"), keys.make("test"))
    assert outcomes(accounts, [None]) == [errors.MissingKeyError]
    assert outcomes(accounts, [*wrong, good]) == [*[InvalidKeyError] * len(wrong), None]
    assert [account.used for account in accounts.usage()] == [1]


def test_one_call_takes_more_keys_than_an_old_sqlite_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement has at most 999 before SQLite 3.32."""
    connect = sqlite3.connect

    def limited(*arguments: Any, **options: Any) -> sqlite3.Connection:
        db: sqlite3.Connection = connect(*arguments, **options)
        db.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, 999)
        return db

    monkeypatch.setattr(sqlite3, "connect", limited)
    wrong = [keys.make("live") for _ in range(1_000)]
    with open_accounts(f"sqlite:///{tmp_path}/a.db") as accounts:
        good = accounts.create_key("Acme", "free")
        *refused, last = accounts.admit_together([*wrong, good])
    assert {type(error) for error in refused} == {InvalidKeyError}
    assert last is None


@pytest.mark.parametrize("back", [0, SECOND // 2])
def test_a_revoked_key_is_refused_everywhere_in_a_second(
    worker: Open, clock: FakeClock, back: int
) -> None:
    """At once if the clock was set back: else what is cached would live longer."""
    accounts, elsewhere = worker(), worker()
    key, other = accounts.create_key("Acme", "paid"), accounts.create_key("Acme", "paid")
    elsewhere.admit(key)
    assert accounts.revoke(of(key)).name == "Acme"
    clock.now += -back or SECOND
    for one in accounts, elsewhere:
        assert outcomes(one, [key, other]) == [InvalidKeyError, None]
    made = accounts.keys()
    assert [one.revoked for one in made].count(True) == 1
    with pytest.raises(KeyError):
        accounts.revoke("0" * 12)


def test_an_expired_key_is_refused_at_once(worker: Open, clock: FakeClock) -> None:
    accounts = worker()
    key = accounts.create_key("Acme", "paid", expires=START // SECOND + 10)
    clock.now = START + 10 * SECOND - 1
    assert outcomes(accounts, [key]) == [None]
    clock.now += 1
    past = [accounts.create_key("Acme", "paid", expires=expires) for expires in (0, -SECOND)]
    assert outcomes(accounts, [key, *past]) == [InvalidKeyError] * 3


#: What a worker remembers: the plan of a key, requests before, the outcome, and who is asked again.
REMEMBERED: dict[str, tuple[str | None, int, type[Exception] | None, str]] = {
    "a key": ("mid", 1, None, "find"),
    "a refused key": (None, 1, InvalidKeyError, "find"),
    "the rate is reached": ("tiny", 4, RateLimitError, "admit"),
    "the quota is used up": ("once", 2, QuotaError, "admit"),
}


@pytest.mark.parametrize("name", REMEMBERED)
@pytest.mark.parametrize(
    ("later", "asks"), [(0, False), (SECOND - 1, False), (SECOND, True), (-1, True)]
)
def test_a_worker_asks_its_store_again_after_a_second(
    worker: Open, clock: FakeClock, plans: Path, monkeypatch: pytest.MonkeyPatch,
    name: str, later: int, asks: bool,
) -> None:  # fmt: skip
    """And at once if the clock was set back. So a flood of refused requests stays off the store."""
    plan, requests, outcome, method = REMEMBERED[name]
    with plans.open("a", encoding="utf-8") as file:
        file.write("[plan.once]\nrate = 100\nquota = 1\n")
    accounts = worker()
    accounts.create_key("other", "mid")
    key = accounts.create_key("Acme", plan) if plan else keys.make("live")
    assert outcomes(accounts, [key] * requests)[-1] is outcome
    asked = counted(accounts, monkeypatch, method)
    clock.now += later
    outcomes(accounts, [key])
    assert (asked.call_count > 0) is asks


@pytest.mark.parametrize("is_known", [True, False])
def test_the_second_begins_before_a_read(
    worker: Open, clock: FakeClock, monkeypatch: pytest.MonkeyPatch, *, is_known: bool
) -> None:
    """A change during a slow read counts a second after it; a key may expire meanwhile."""
    accounts = worker()
    key = accounts.create_key("Acme", "mid")
    key = key if is_known else keys.make("live")
    expires = accounts.create_key("Acme", "mid", expires=START // SECOND + 2)
    find = accounts.store.find

    def slow(digests: Sequence[bytes]) -> Sequence[Key | errors.AccountsError | None]:
        stored = find(digests)
        clock.now += SECOND // 2
        return stored

    monkeypatch.setattr(accounts.store, "find", reads := Mock(side_effect=slow))
    for now, count in ((START, 1), (START + SECOND - 1, 1), (START + SECOND, 2)):
        clock.now = now
        assert outcomes(accounts, [key]) == [None if is_known else InvalidKeyError]
        assert reads.call_count == count
    clock.now = START + 2 * SECOND - 1
    assert outcomes(accounts, [expires]) == [InvalidKeyError]


def test_keys_of_an_account_share_rate_and_quota(worker: Open, clock: FakeClock) -> None:
    """Test keys too, in all workers, and the quota is for life."""
    plan = read_plans()["free"]
    assert (plan.rate, plan.quota) == (5, 2000)
    one, two = worker(), worker()
    pair = [one.create_key("Acme", "tiny", environment=env) for env in keys.ENVIRONMENTS]
    other = one.create_key("Other", "tiny")
    for _ in range(6):  # 20 at 3 a second
        assert outcomes(one, pair) == [None, None]
        assert outcomes(two, [*pair, other]) == [None, RateLimitError, None]
        clock.now += SECOND
    assert outcomes(two, pair) == [None, None]
    clock.now += 10**9 * SECOND
    assert outcomes(one, pair) == [QuotaError] * 2
    actual = {(account.name, account.used, account.keys) for account in one.usage()}
    assert actual == {("Acme", 20, 2), ("Other", 6, 1)}


def test_the_caches_of_keys_are_bounded(worker: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the bound a key is read again; the counts stay right."""
    monkeypatch.setattr(admissions, "CACHED", 3)
    accounts = worker()
    made = [accounts.create_key(f"account {n}", "endless") for n in range(8)]
    reads = counted(accounts, monkeypatch, "find")
    for asked in (made, [keys.make("live") for _ in range(8)]):
        reads.reset_mock()
        outcomes(accounts, asked * 3)
        assert reads.call_count == 24
        outcomes(accounts, asked[-2:])
        assert reads.call_count == 24
    assert [account.used for account in accounts.usage()] == [3] * 6 + [4] * 2


class Secret(str):
    """A text that fails the test where it is compared, hashed, searched or cut."""

    __slots__ = ()

    def _refuse(self, *_: object) -> Any:
        raise AssertionError("the text of a key was compared")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __hash__ = _refuse
    __contains__ = __getitem__ = __iter__ = startswith = endswith = find = index = _refuse


def test_keys_are_compared_in_constant_time(worker: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is asked by digest, and what it finds is compared by compare_digest."""
    accounts = worker()
    good, other = accounts.create_key("Acme", "free"), accounts.create_key("Other", "free")
    digest, of_other = (hashlib.sha256(key.encode()).digest() for key in (good, other))
    compare = Mock(wraps=hmac.compare_digest)
    find = Mock(return_value=accounts.store.find([digest]))  # whatever is asked for
    monkeypatch.setattr(admissions, "compare_digest", compare)
    monkeypatch.setattr(accounts.store, "find", find)
    for _ in ("from the store", "from the cache"):
        accounts.admit(Secret(good))
    assert find.mock_calls == [call([digest])]
    assert compare.mock_calls == [call(digest, digest)] * 2
    assert outcomes(accounts, [Secret(other)]) == [InvalidKeyError]
    assert find.mock_calls[1:] == [call([of_other])]
    assert compare.mock_calls[2:] == [call(digest, of_other)]


def test_a_key_is_nowhere_but_with_its_owner(
    url: str, worker: Open, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    accounts = worker()
    key = accounts.create_key("Acme", "free")
    accounts.admit(key)
    shown = repr((accounts.keys(), accounts.usage(), vars(accounts)))
    if accounts.remote:
        with optional("redis").Redis.from_url(url) as client:
            stored = b"".join(name + client.dump(name) for name in client.scan_iter())
    else:
        stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())  # and the log
        accounts.close()
        stored += b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"Acme" in stored
    for part in (key, key[9:41], key[20:30]):
        assert part not in shown + caplog.text
        assert part.encode() not in stored


def test_what_no_key_is_made_for(worker: Open) -> None:
    accounts = worker()
    accounts.create_key("Acme", "free")
    for name, plan, environment, says in (
        ("x", "free", "prod", "'prod' is not an environment"),
        ("Acme", "paid", "live", "Acme"),
    ):
        with pytest.raises(ValueError, match=says):
            accounts.create_key(name, plan, environment=environment)
    for expires in (10**12, -(10**12)):
        with pytest.raises(ValueError, match="years 1 to 9999"):
            accounts.create_key("Acme", "free", expires=expires)
    with pytest.raises(errors.PlansError, match="no plan 'fre'; did you mean 'free'"):
        accounts.create_key("x", "fre")
    assert len(accounts.keys()) == len(accounts.log()) == 1


@pytest.mark.parametrize(
    "name",
    [
        *("", " ", "\u3000", "a" * 201, "a\x00", "a\nb", "a\tb", "\x1b[2J", "\x7f", "\x9b2J"),
        *(" a", "a ", "a\u3000"),
        *("a\u2028b", "a\u202eb", "\u061cb", "\u200fb", "a\u2066", "\udcff"),
    ],
)
def test_names_that_act_on_a_terminal_are_refused(name: str, file: Path, tmp_path: Path) -> None:
    with open_accounts(f"sqlite:///{file}") as accounts:
        with pytest.raises(ValueError, match="is not a name of an account") as refused:
            accounts.create_key(name, "free")
        assert str(refused.value).isprintable()
    assert not file.exists()
    plans = tmp_path / "own.toml"
    quoted = json.dumps(name.replace("\udcff", "\ufffd\x00")).replace("\x7f", "\\u007f")
    plans.write_text(f"[plan.{quoted}]\nrate = 1\n", encoding="utf-8")
    with pytest.raises(errors.PlansError, match="is not a name of a plan") as refused_plan:
        read_plans(plans)
    assert str(refused_plan.value).isprintable()


def test_names_of_all_scripts_are_accepted(worker: Open) -> None:
    names = ["a" * 200, "株式会社\u3000例", "دانش\u200cآموز", "नमस्ते", "Ünïcödé 👩\u200d🔬", "-x"]
    for name in names:
        worker().create_key(name, "free")
    assert [usage.name for usage in worker().usage()] == names


def test_canonically_equal_names_are_one_account(worker: Open) -> None:
    """Each would have a quota of its own."""
    for name in ("Ünïcödé", "U\u0308ni\u0308co\u0308de\u0301"):
        worker().create_key(name, "free")
    assert [(usage.name, usage.keys) for usage in worker().usage()] == [("Ünïcödé", 2)]


def test_an_account_whose_plan_is_unknown_here_is_no_open_gate(url: str, worker: Open) -> None:
    key = worker().create_key("Acme", "tiny")
    problem = pytest.raises(errors.AccountsError, match="plan 'tiny'")
    with open_accounts(url) as without_file, problem:
        without_file.admit(key)
