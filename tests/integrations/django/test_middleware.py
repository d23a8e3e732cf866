"""``request.geo`` in the real Django, sync and async; wrong settings."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import DatasetError, SettingsError
from tests.own_sources import own_dataset

IP, PROXY = "8.8.8.8", "10.0.0.1"


def ask(path: str, **environ: str) -> Any:
    from django.test import Client

    return Client().get(path, **environ)  # type: ignore[arg-type]


async def ask_async(path: str, **environ: str) -> Any:
    from django.test import AsyncClient

    return await AsyncClient().get(path, **environ)  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["/", "/async"])
def test_request_geo(path: str) -> None:
    assert ask(path, REMOTE_ADDR=IP).json() == {"ip": IP, "code": None}
    assert ask(path).json() == {"ip": None, "code": 10002}
    assert ask(path, HTTP_X_FORWARDED_FOR=IP).json() == {"ip": None, "code": 10002}

    from django.test import override_settings

    with override_settings(GEOLOOKUP={"TRUSTED_PROXIES": [PROXY, "unix:"]}):
        for peer in (PROXY, ""):
            answer = ask(path, REMOTE_ADDR=peer, HTTP_X_FORWARDED_FOR=f"1.2.3.4, {IP}")
            assert answer.json()["ip"] == IP
    assert ask(path, REMOTE_ADDR=PROXY, HTTP_X_FORWARDED_FOR=IP).json()["ip"] is None
    with override_settings(GEOLOOKUP={"TRUSTED_PROXIES": ["127.0.0.1"]}):
        answer = asyncio.run(ask_async(path, X_FORWARDED_FOR=IP))
    assert answer.json() == {"ip": IP, "code": None}


def test_own_columns() -> None:
    from django.test import override_settings

    with override_settings(GEOLOOKUP={"DATASET": str(own_dataset())}):
        assert ask("/site", REMOTE_ADDR="10.1.2.3").content == b"Branch 10002"
        assert ask("/site", REMOTE_ADDR="8.8.8.9").content == b"Mountain View None"
    assert ask("/site", REMOTE_ADDR=IP).content == b" None"  # no own columns


def test_a_wrong_setting_ends_the_start(tmp_path: Path) -> None:
    from django.test import override_settings

    settings: list[tuple[object, type[Exception], str]] = [
        ([], SettingsError, "GEOLOOKUP is not a dict; write it like"),
        ({"DATSET": "x"}, SettingsError, "has an unknown name 'DATSET'; did you mean 'DATASET'?"),
        ({5: "x"}, SettingsError, "GEOLOOKUP has an unknown name 5"),
        ({"TRUSTED_PROXIES": ["x"]}, SettingsError, r"GEOLOOKUP\['TRUSTED_PROXIES'\] 'x' is not a"),
        ({"TRUSTED_PROXIES": "10.0.0.0/8"}, SettingsError, "'10.0.0.0/8' is not a list"),
        ({"TRUSTED_KEYS": []}, ValueError, "no key to trust"),
        ({"WATCH": 0}, ValueError, "watch is the poll interval in seconds, above 0"),
        ({"DATASET": tmp_path}, DatasetError, "no dataset here"),
        ({"MAX_AGE": 1, "ON_STALE": "refuse"}, DatasetError, "above max_age of 1 days"),
    ]
    for setting, error, said in settings:
        with override_settings(GEOLOOKUP=setting), pytest.raises(error, match=said):
            ask("/")
