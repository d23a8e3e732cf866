"""The floors: what an answer needs at least, as JSON bytes and as a dict.

The floor of JSON parses the address, reads the arrays that an answer depends on, one element each,
and copies as many bytes as an answer has to a new bytes object; all in one loop in C.

The floor of a dict is CPython building it from parts that are ready. Every address gets its parts
beforehand, shared among addresses that have the same; the timed part copies them into new dicts,
with new lists. No lookup that returns a dict of the caller's own can do with less in Python.
"""

from __future__ import annotations

import ctypes
import json
import shlex
import statistics
import subprocess
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import geolookup
from benchmarks.contenders.opening import Files, Opened, RefusedError
from geolookup.dataset.files import Dataset

_SOURCE = Path(__file__).with_name("steps.c")
_NUMBERS = ("jump", "starts", "locations", "networks", "location_offsets", "network_offsets")
_TEXTS = ("location_texts", "network_texts", "constant")
_SAMPLE = 1_000
#: One instant for all: the time object is a prepared part.
_INSTANT = 1_800_000_000


class _Arrays(ctypes.Structure):
    """``Arrays`` of the C source."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in (*_NUMBERS, *_TEXTS)),
        ("jump_shift", ctypes.c_uint32),
        ("constant_size", ctypes.c_uint32),
    )


def open_steps(files: Files) -> Opened:
    """Return what does the steps for a list of IPv4 texts; RefusedError without a C compiler."""
    with TemporaryDirectory() as folder:
        library = ctypes.PyDLL(str(_compile(Path(folder))))
    library.run.argtypes = [ctypes.py_object, ctypes.POINTER(_Arrays)]
    library.run.restype = ctypes.c_uint64

    def prepare(addresses: Sequence[str]) -> Callable[[], Iterable[object]]:
        with geolookup.open(files.dataset) as engine:
            sizes = [len(engine.lookup_json(address)) for address in addresses[:_SAMPLE]]
        arrays, buffers = _arrays(Dataset(files.dataset), round(statistics.mean(sizes)))
        texts = list(addresses)

        def run() -> Iterable[object]:
            library.run(texts, ctypes.byref(arrays))
            return buffers[:0]  # an empty list; the closure keeps the arrays alive

        return run

    return prepare


def _compile(folder: Path) -> Path:
    target = folder / "steps.so"
    compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")
    command = [*compiler, "-O3", "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}"]
    try:
        subprocess.run([*command, str(_SOURCE), "-o", str(target)], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise RefusedError(f"needs a C compiler ({error})") from None
    return target


def _arrays(dataset: Dataset, answer_size: int) -> tuple[_Arrays, list[Any]]:
    """Return copies of the columns, in memory of this process."""
    locations, networks = dataset.locations, dataset.networks
    rows = sum(len(table.data) / max(1, len(table)) for table in (locations, networks))
    constant_size = max(0, round(answer_size - rows))
    sources: dict[str, memoryview | bytes] = {
        "jump": dataset.jump,
        "starts": dataset.ipv4_starts,
        "locations": dataset.ipv4_locations,
        "networks": dataset.ipv4_networks,
        "location_offsets": locations.offsets,
        "network_offsets": networks.offsets,
        "location_texts": locations.data,
        "network_texts": networks.data,
        "constant": bytes(constant_size),
    }
    buffers = {name: ctypes.create_string_buffer(bytes(buffer)) for name, buffer in sources.items()}
    pointers = {name: ctypes.addressof(buffer) for name, buffer in buffers.items()}
    arrays = _Arrays(**pointers, jump_shift=dataset.jump_shift, constant_size=constant_size)
    return arrays, list(buffers.values())


_Parts = tuple[str, str, dict[str, Any], Any, Any, dict[str, Any], dict[str, Any], dict[str, Any]]


def open_ready(files: Files) -> Opened:
    """Return what prepares the parts of a list of addresses."""
    engine = geolookup.open(files.dataset)
    parts_by_text: dict[str, Any] = {}

    def share(part: dict[str, Any]) -> Any:
        return parts_by_text.setdefault(json.dumps(part), part)

    def ready(address: str) -> _Parts:
        data: Any = engine.lookup(address, at=_INSTANT)["data"]
        location = share(data["location"])
        return (
            data["ip"],
            data["ip_type"],
            location,
            location["country_languages"],
            location["country_neighbors"],
            *(share(data[group]) for group in ("time", "currency", "network")),
        )

    def prepare(addresses: Sequence[str]) -> Callable[[], Iterable[object]]:
        known: dict[str, _Parts] = {}
        parts = [known.get(text) or known.setdefault(text, ready(text)) for text in addresses]
        return lambda: map(_build, parts)

    return prepare


def _build(parts: _Parts) -> dict[str, Any]:
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
