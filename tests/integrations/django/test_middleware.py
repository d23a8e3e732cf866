"""``request.geo`` in the real Django, sync and async."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from geolookup.errors import DatasetError, SettingsError

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


def test_templates() -> None:
    assert ask("/rendered", REMOTE_ADDR=IP).content == b"US known"
    assert ask("/rendered").content == b"None "


def test_a_wrong_setting_ends_the_start(tmp_path: Any) -> None:
    from django.test import override_settings

    with (
        override_settings(GEOLOOKUP={"DATASET": tmp_path}),
        pytest.raises(DatasetError, match="no dataset here"),
    ):
        ask("/")
    with override_settings(GEOLOOKUP={"DATA": "x"}), pytest.raises(SettingsError, match="DATASET"):
        ask("/")
