"""``request.geo`` in the real Django, sync and async; the system check of the settings."""

from __future__ import annotations

import asyncio
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

from geolookup.errors import DatasetError, SettingsError
from tests.datasets import SMALL
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


def test_a_wrong_setting_ends_the_start(tmp_path: Any) -> None:
    from django.test import override_settings

    with (
        override_settings(GEOLOOKUP={"DATASET": tmp_path}),
        pytest.raises(DatasetError, match="no dataset here"),
    ):
        ask("/")
    with override_settings(GEOLOOKUP={"DATA": "x"}), pytest.raises(SettingsError, match="DATASET"):
        ask("/")


def check_results(setting: object) -> list[tuple[str | None, str]]:
    from django.core.checks import run_checks
    from django.test import override_settings

    with override_settings(GEOLOOKUP=setting):
        return [(check.id, check.msg) for check in run_checks()]


def test_a_wrong_setting() -> None:
    settings: list[tuple[object, str]] = [
        ([], "GEOLOOKUP is not a dict; write it like"),
        ({"DATSET": "x"}, "GEOLOOKUP has an unknown name 'DATSET'; did you mean 'DATASET'?"),
        ({"TRUSTED_KEYS": []}, "GEOLOOKUP: no key to trust"),
        ({5: "x"}, "GEOLOOKUP has an unknown name 5"),
        ({"TRUSTED_PROXIES": ["x"]}, "GEOLOOKUP['TRUSTED_PROXIES'] 'x' is not a network; write"),
        ({"TRUSTED_PROXIES": "10.0.0.0/8"}, "GEOLOOKUP['TRUSTED_PROXIES'] '10.0.0.0/8' is not a"),
        ({"WATCH": 0}, "watch is the poll interval in seconds, above 0"),
        ({"WATCH": "5"}, "watch is the poll interval in seconds, above 0"),
        ({"MAX_AGE": "soon"}, "max_age"),
        ({"ON_STALE": "cry"}, "on_stale"),
        ({"DATASET": 5}, "os.PathLike"),
    ]
    for setting, says in settings:
        ((name, shown),) = check_results(setting)
        assert name == "geolookup.E001", setting
        assert says in shown, setting
        assert "\n" not in shown, setting
        assert shown.startswith("GEOLOOKUP"), setting


def test_a_dataset_that_cannot_be_used(tmp_path: Path) -> None:
    ((name, text),) = check_results({"DATASET": tmp_path})
    assert name == "geolookup.E002"
    assert str(tmp_path) in text
    assert "; " in text
    assert "\n" not in text
    folder = copytree(SMALL, tmp_path / "dataset")
    (folder / "location.arrow").unlink()
    assert check_results({"DATASET": folder})[0][0] == "geolookup.E002"
    assert (
        check_results({"DATASET": SMALL, "MAX_AGE": 1, "ON_STALE": "refuse"})[0][0]
        == "geolookup.E002"
    )
