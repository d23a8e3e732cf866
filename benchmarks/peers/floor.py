"""The floor: CPython building the envelope's dict from parts that are ready.

Strategy: every address gets its parts beforehand, shared among addresses that
have the same; the timed part copies them into new dicts, with new lists.
No lookup that returns a dict of the caller's own can do with less in Python.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from geolookup.dataset.files import Dataset
from geolookup.kernel.python import Kernel

if TYPE_CHECKING:
    from benchmarks.peers.libraries import Answers, Files, Opened

Parts = tuple[str, str, dict[str, Any], Any, Any, dict[str, Any], dict[str, Any], dict[str, Any]]

#: One instant for all: the time object is a prepared part.
INSTANT = 1_800_000_000


def build(parts: Parts) -> dict[str, Any]:
    """Return an envelope of the caller's own."""
    ip, ip_type, location, languages, neighbors, time, currency, network = parts
    location = location.copy()
    if languages is not None:
        location["country_languages"] = languages[:]
    if neighbors is not None:
        location["country_neighbors"] = neighbors[:]
    return {
        "success": True,
        "data": {
            "ip": ip,
            "ip_type": ip_type,
            "location": location,
            "time": time.copy(),
            "currency": currency.copy(),
            "network": network.copy(),
        },
        "error": False,
        "error_code": None,
        "error_message": None,
    }


def open_floor(files: Files) -> Opened:
    """Return what prepares the parts of a list of addresses."""
    kernel = Kernel(Dataset(files.dataset))
    parts_by_text: dict[str, Any] = {}

    def share(part: dict[str, Any]) -> Any:
        return parts_by_text.setdefault(json.dumps(part), part)

    def prepare(address: str) -> Parts:
        data: Any = kernel.data(address, at=INSTANT)
        location = share(data["location"])
        return (
            data["ip"],
            data["ip_type"],
            location,
            location["country_languages"],
            location["country_neighbors"],
            *(share(data[group]) for group in ("time", "currency", "network")),
        )

    def answers(addresses: Sequence[str]) -> Answers:
        ready: dict[str, Parts] = {}
        parts = [ready.get(text) or ready.setdefault(text, prepare(text)) for text in addresses]
        return lambda: map(build, parts)

    return answers
