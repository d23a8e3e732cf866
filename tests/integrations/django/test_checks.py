"""The system check: one line that names what is wrong, and what to do."""

from __future__ import annotations

from pathlib import Path
from shutil import copytree
from typing import Any

from tests.datasets import SMALL


def found(setting: object) -> list[tuple[str | None, str]]:
    from django.core.checks import run_checks
    from django.test import override_settings

    with override_settings(GEOLOOKUP=setting):
        return [(each.id, each.msg) for each in run_checks()]


def test_nothing_is_wrong() -> None:
    from django.core.checks import run_checks

    assert run_checks() == []
    everything: dict[str, Any] = {
        "DATASET": SMALL,
        "WATCH": 60,
        "MAX_AGE": "30d",
        "ON_STALE": "tag",
        "ALLOW_LOST_FIELDS": True,
        "FALLBACK": True,
        "PRELOAD": True,
        "TRUSTED_PROXIES": ["10.0.0.0/8", "unix:"],
    }
    assert found(everything) == []


def test_a_wrong_setting() -> None:
    settings: list[tuple[object, str]] = [
        ([], "GEOLOOKUP is not a dict; write it like"),
        ({"DATSET": "x"}, "GEOLOOKUP has an unknown name 'DATSET'; did you mean 'DATASET'?"),
        ({5: "x"}, "GEOLOOKUP has an unknown name 5"),
        ({"TRUSTED_PROXIES": ["x"]}, "GEOLOOKUP['TRUSTED_PROXIES'] 'x' is not a network; write"),
        ({"TRUSTED_PROXIES": "10.0.0.0/8"}, "GEOLOOKUP['TRUSTED_PROXIES'] '10.0.0.0/8' is not a"),
        ({"WATCH": 0}, "watch is the poll interval in seconds, above 0"),
        ({"WATCH": "5"}, "watch is the poll interval in seconds, above 0"),
        ({"MAX_AGE": "soon"}, "max_age"),
        ({"ON_STALE": "cry"}, "on_stale"),
        ({"DATASET": 5}, "DATASET"),
    ]
    for setting, says in settings:
        ((name, shown),) = found(setting)
        assert name == "geolookup.E001", setting
        assert says in shown, setting
        assert "\n" not in shown, setting
        assert shown.startswith("GEOLOOKUP"), setting


def test_a_dataset_that_cannot_be_used(tmp_path: Path) -> None:
    ((name, text),) = found({"DATASET": tmp_path})
    assert name == "geolookup.E002"
    assert str(tmp_path) in text
    assert "; " in text
    assert "\n" not in text
    folder = copytree(SMALL, tmp_path / "dataset")
    (folder / "location.arrow").unlink()
    assert found({"DATASET": folder})[0][0] == "geolookup.E002"
    assert found({"DATASET": SMALL, "MAX_AGE": 1, "ON_STALE": "refuse"})[0][0] == "geolookup.E002"
