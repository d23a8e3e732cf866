"""The steps that every lookup needs, in C, over the arrays of a dataset."""

from __future__ import annotations

import ctypes
import shlex
import subprocess
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from geolookup.dataset.files import Dataset

SOURCE = Path(__file__).with_name("steps.c")
#: The steps in their order; each run does all steps up to one of them.
PARSE, READ, COPY = 1, 2, 3
_NUMBERS = ("jump", "starts", "locations", "networks", "location_offsets", "network_offsets")
_TEXTS = ("location_texts", "network_texts", "constant")


class _Arrays(ctypes.Structure):
    """``Arrays`` of the C source."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in (*_NUMBERS, *_TEXTS)),
        ("jump_shift", ctypes.c_uint32),
        ("constant_size", ctypes.c_uint32),
    )


def steps_of(dataset: Dataset, answer_size: int, folder: Path) -> Callable[[list[str], int], None]:
    """Return a function that does the steps for a list of IPv4 texts, compiled in ``folder``.

    ``answer_size`` is the mean size of the answers in bytes.
    """
    library = ctypes.PyDLL(str(compile_library(SOURCE, folder)))
    library.run.argtypes = [ctypes.py_object, ctypes.POINTER(_Arrays), ctypes.c_int]
    library.run.restype = ctypes.c_uint64
    arrays, buffers = _arrays(dataset, answer_size)

    def run(addresses: list[str], steps: int) -> None:
        library.run(addresses, ctypes.byref(arrays), steps)

    run.buffers = buffers  # type: ignore[attr-defined]  # keeps the arrays alive
    return run


def compile_library(source: Path, folder: Path) -> Path:
    """Compile a C source to a library in ``folder``; ClickException if that fails."""
    target = folder / f"{source.stem}.so"
    compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")
    command = [*compiler, "-O3", "-shared", "-fPIC", f"-I{sysconfig.get_path('include')}"]
    try:
        subprocess.run([*command, str(source), "-o", str(target)], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise click.ClickException(f"{source}: cannot be compiled ({error})") from error
    return target


def _arrays(dataset: Dataset, answer_size: int) -> tuple[_Arrays, list[Any]]:
    """Return copies of the columns, in memory of this process."""
    locations, networks = dataset.locations, dataset.networks
    rows = sum(len(table.data) / len(table) for table in (locations, networks))
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
