"""What a build of few rows does besides its work, in a process that has built before."""

from __future__ import annotations

import builtins
import os
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import build_at

FILES: dict[str, str | bytes] = {
    "a.csv": "network,country_code,city_name,latitude,longitude,asn,user_type\n"
    "8.8.8.0/24,US,Boston,42.36,-71.06,1,hosting\n2a00::/16,SE,,,,,\n"
}


def test_arrow_infers_no_type_of_a_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no type is stated, Arrow imports dateutil again for each value, present or not."""
    imported: list[str] = []
    real = builtins.__import__

    def importing(name: str, *arguments: Any, **options: Any) -> Any:
        imported.append(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", importing)
    build_at(tmp_path, FILES)
    assert "dateutil.relativedelta" not in imported


def test_no_thread_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    start = threading.Thread.start

    def starting(thread: threading.Thread) -> None:
        started.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", starting)
    build_at(tmp_path, FILES)
    assert started == []


@pytest.mark.skipif(os.name != "posix", reason="elsewhere folders are not synced")
def test_each_file_is_synced_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: Counter[int] = Counter()

    def sync(descriptor: int) -> None:
        synced[os.fstat(descriptor).st_ino] += 1

    monkeypatch.setattr(os, "fsync", sync)
    dataset, _ = build_at(tmp_path, FILES)
    paths = [*dataset.iterdir(), dataset, tmp_path]
    assert synced == Counter(path.stat().st_ino for path in paths)
