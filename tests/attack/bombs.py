"""Archives that unpack to much more than they are: time, peak memory and bytes written of each.

Each bomb is unpacked by the real commands, in a process of its own. A bomb must be refused, within
a bound on its memory and without a byte left.
"""

from __future__ import annotations

import io
import json
import os
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from tests.datasets import SMALL
from tests.internals.archives import head, header
from tests.internals.dataset import canonical
from tests.internals.dataset import layout as fmt

RECIPE = '[dataset]\nname = "x"\n[[source]]\nformat = "{}"\npath = "{}"\n'
HEADER, ROW = b"network,isp\n", b"8.8.8.0/24,one\n"
MOST_SECONDS = 300
MOST_MEMORY = 600 << 20  # Python and Arrow take 120 MB, the rows of 64 MiB the rest
MOST_WRITTEN = 80 << 20
#: Runs a command; the last line is its peak memory. Not ``ru_maxrss``: a child begins with that of
#: its parent.
_RUN = f"""
import resource
from geolookup.cli import main
resource.setrlimit(resource.RLIMIT_AS, ({8 << 30}, {8 << 30}))
try:
    main()
finally:
    with open("/proc/self/status") as status:
        print(*[line.split()[1] for line in status if line.startswith("VmHWM")])
"""


def attack() -> None:
    """Run all bombs, and demand that each is refused."""
    failed = []
    for make in BOMBS:
        with tempfile.TemporaryDirectory() as target:
            folder = Path(target)
            command = make(folder)
            size = _bytes(folder)
            began, expected = time.monotonic(), (0,) if make is tar_of_members else (1, 2)
            status, memory, written, last = _run(command, folder)
            left = _bytes(folder) - size
        print(
            f"{make.__name__}: {size} bytes, exit {status}, {time.monotonic() - began:.1f} s,"
            f" {memory >> 20} MiB, {written >> 20} MiB written\n  {last}"
        )
        within = memory <= MOST_MEMORY and written <= MOST_WRITTEN
        if status not in expected or not within or (left and status):
            failed.append(make.__name__)
    assert not failed, failed


def _run(command: list[str], folder: Path) -> tuple[int, int, int, str]:
    """Return the exit status, peak memory, peak of bytes written, and last line of a command."""
    before, written, ends = _bytes(folder), 0, time.monotonic() + MOST_SECONDS
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", _RUN, *command],
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        while process.poll() is None:
            written = max(written, _bytes(folder) - before)
            if time.monotonic() > ends:
                process.kill()
            time.sleep(0.05)
        output.seek(0)
        *_, last, memory = ["", *output.read().split("\n")][:-1]
    return process.returncode, int(memory) << 10, written, last


def _bytes(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except OSError:  # renamed meanwhile
            continue
    return total


def zip_of_lines(folder: Path) -> list[str]:
    """One member: a header and a gigabyte of empty lines."""
    return _zip(folder, 1, [HEADER, ROW, *[b"\n" * (16 << 20)] * 60])


def many_members(folder: Path) -> list[str]:
    """Eight members of 90 MB each, every one below what a single file may unpack to."""
    return _zip(folder, 8, [HEADER, ROW * 6_000_000])


def shared_bytes(folder: Path) -> list[str]:
    """One member of 45 MB that the directory names forty times."""
    command = _zip(folder, 1, [HEADER, ROW * 3_000_000])
    data = (folder / "a.zip").read_bytes()
    begin, end = data.rindex(b"PK\1\2"), data.rindex(b"PK\5\6")
    directory, record = data[begin:end] * 40, bytearray(data[end:])
    record[8:16] = struct.pack("<HHI", 40, 40, len(directory))
    (folder / "a.zip").write_bytes(data[:begin] + directory + record)
    return command


def _zip(folder: Path, members: int, parts: Iterable[bytes]) -> list[str]:
    with zipfile.ZipFile(folder / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(members):
            with archive.open(f"{number}.csv", "w") as member:
                for part in parts:
                    member.write(part)
    return _build(folder, "a.zip")


def tar_of_members(folder: Path) -> list[str]:
    """No bomb: 2,000 honest members; these must take seconds."""
    with tarfile.open(folder / "a.tar.gz", "w:gz") as archive:
        for at in range(2000):
            lines = [f"{9 + at % 90}.{at // 90}.{low}.0/24,{at}\n" for low in range(256)]
            content = HEADER + "".join(lines).encode()
            member = tarfile.TarInfo(f"{at:04}.csv")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return _build(folder, "a.tar.gz")


def parquet_of_prefixes(folder: Path) -> list[str]:
    """A text of 1 MiB that a Parquet file stores once and repeats in 10,240 rows."""
    count = 256
    networks = pa.array([f"8.8.{row}.0/24" for row in range(count)])
    long = pa.DictionaryArray.from_arrays(pa.array([0] * count), ["x" * (1 << 20)])
    table = pa.table({"network": networks, "isp": long.cast(pa.large_string())})
    encoding = {"isp": "DELTA_BYTE_ARRAY", "network": "PLAIN"}
    options: dict[str, Any] = {"use_dictionary": False, "column_encoding": encoding}
    options |= {"compression": "zstd", "store_schema": False}
    with parquet.ParquetWriter(folder / "a.parquet", table.schema, **options) as writer:
        for _ in range(40):
            writer.write_table(table)
    return _build(folder, "a.parquet")


def dataset_of_zeros(folder: Path) -> list[str]:
    """An archive of ``pack`` whose manifest states 6 GiB for one file."""
    size = 6 << 30
    stated = json.loads((SMALL / fmt.MANIFEST).read_bytes())
    stated["files"][fmt.FILES[0]]["bytes"] = size
    members = head.Head.of(canonical(stated), None, SMALL).members()
    begin = b"".join(
        header(name, len(data)) + data + bytes(-len(data) % 512) for name, data in members
    )
    codec, zeros = pa.Codec("zstd"), bytes(64 << 20)
    frames = codec.compress(zeros, asbytes=True) * (size // len(zeros))
    begin = codec.compress(begin + header(fmt.FILES[0], size), asbytes=True)
    (folder / "a.tar.zst").write_bytes(begin + frames)
    return ["mirror", "unpack", "a.tar.zst", "--output", "out"]


def _build(folder: Path, name: str) -> list[str]:
    kind = "parquet" if name.endswith("parquet") else "csv"
    (folder / "r.toml").write_text(RECIPE.format(kind, name), encoding="utf-8")
    return ["build", "r.toml", "--output", "out"]


BOMBS = (
    *(zip_of_lines, many_members, shared_bytes, tar_of_members),
    *(parquet_of_prefixes, dataset_of_zeros),
)
