"""URLs of stores and passwords of Redis: read from URL, environment or file, and shown nowhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from geolookup.errors import AccountsError
from geolookup.gate import open_accounts
from tests.cli.program import run
from tests.internals.gate import back_up
from tests.servers import redis
from tests.skips import needs

PASSWORD, PASSWORD_FILE = "GEOLOOKUP_REDIS_PASSWORD", "GEOLOOKUP_REDIS_PASSWORD_FILE"
#: Characters that divide a URL, and one beyond ASCII.
PHRASE = "geh/ei?m#@ü%41"
ENCODED = "geh%2Fei%3Fm%23%40%C3%BC%2541"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that asks for a password, without it."""
    with redis(tmp_path_factory.mktemp("redis"), "--requirepass", PHRASE) as server:
        yield server.url


@pytest.fixture(autouse=True)
def _no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (PASSWORD, PASSWORD_FILE):
        monkeypatch.delenv(name, raising=False)


def refused(url: str) -> str:
    """Return the error of a store that cannot be used."""
    with pytest.raises(AccountsError) as wrong, open_accounts(url) as accounts:
        accounts.create_key("Acme", "free")
    text = str(wrong.value)
    assert text.isprintable()
    return text


@needs("redis")
def test_a_password_is_read_from_url_environment_or_file(
    guarded: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "password"
    for content in (PHRASE, f"{PHRASE}\n", f"{PHRASE}\r\n"):
        file.write_text(content, encoding="utf-8", newline="")
        monkeypatch.setenv(PASSWORD_FILE, str(file))
        for url in (guarded, guarded.replace("redis://", "redis://default@")):
            assert run(
                "accounts", "keys", "create", "--accounts", url, "--plan", "free", "--name", "A"
            ).stdout
    monkeypatch.delenv(PASSWORD_FILE)
    monkeypatch.setenv(PASSWORD, PHRASE)
    with open_accounts(guarded) as accounts:
        assert accounts.usage()[0].keys == 6
    # A URL with a password has precedence.
    wrong = guarded.replace("redis://", "redis://:wrong@")
    assert "username-password" in refused(wrong)
    monkeypatch.setenv(PASSWORD, "wrong")
    assert "username-password" in refused(guarded)
    with open_accounts(guarded.replace("redis://", f"redis://:{ENCODED}@")) as accounts:
        assert accounts.usage()[0].keys == 6


@needs("redis")
@pytest.mark.parametrize(
    "url",
    [
        *("redis://:se/cret@h:1/0", "redis://:se#cret@h:1/0", "redis://:se?cret=1@h:1/0"),
        *("redis://:12/34@h:1/0", "redis://:[secret@h/0", "redis://:sec\u2100ret@h:1/0"),
        *("redis://h:1/secret", "redis://h:1/0?secret=secret", "redis://h:1/0?db=secret"),
        *("redis://:secret@h:99999/0", "redis://h?max_connections=secret", "redis:///0"),
        *("redis://h:1/0?decode_responses=1", "redis://h:1/0?protocol=9", "redis://h?encoding=x"),
        *("redis://h:1/0?connection_class=secret", "rediss://:secret@h:port/0"),
        *("mysql://user:secret@host/x", "user:secret@host:1", ":secret@host:1", "//secret"),
        *("sqlite://:secret@h/x", "sqlite://[secret/a.db", "sqlite://", "accounts.db", ""),
        *("sqlite:///a.db?sync=full", "sqlite:///a.db?synchronous=off", "sqlite:///a.db#1"),
        *("sqlite:///a.db?synchronous=", "sqlite:///a.db?synchronous=full&synchronous=normal"),
    ],
)
def test_a_malformed_url_is_one_line_without_a_password(url: str, tmp_path: Path) -> None:
    text = refused(url)
    assert "write " in text
    assert text.startswith(("accounts: not the URL", "redis://: ", "rediss://: ", "a.db: "))
    for part in ("secret", "cret", "12", "34", "ret@", "user"):
        assert part not in text
    with pytest.raises(AccountsError) as wrong:
        back_up(url, tmp_path / "backup")
    assert "secret" not in str(wrong.value)


def test_each_byte_of_a_percent_encoded_path_counts(tmp_path: Path) -> None:
    with open_accounts(f"sqlite:///{tmp_path}/a%23%3F%ff.db") as accounts:
        accounts.create_key("Acme", "free")
    assert [os.fsencode(path.name) for path in tmp_path.iterdir()] == [b"a#?\xff.db"]
