"""Archives that unpack to much more than they are: time, peak memory and bytes written of each.

Each bomb is built and unpacked by the real commands, in a process of its own. A bomb must be
refused, within a bound on its memory and without a byte left.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import parquet

from tests.datasets import SMALL
from tests.internals.dataset import canonical
from tests.internals.dataset import layout as fmt

RECIPE = '[dataset]\nname = "x"\n[[source]]\nformat = "{}"\npath = "{}"\n'
ROW = b"8.8.8.0/24,one\n"
TIME_LIMIT = 300
MOST_MEMORY = 600 << 20  # Python and Arrow take 120 MB, the rows of 64 MiB the rest
MOST_WRITTEN = 80 << 20


class Result(NamedTuple):
    """What a command took."""

    status: int
    seconds: float
    memory: int  # peak, in bytes
    written: int  # peak of its output folder, in bytes
    last: str


def attack() -> None:
    """Run all bombs, and demand that each is refused."""
    failed = []
    for make in BOMBS:
        with tempfile.TemporaryDirectory() as target:
            folder = Path(target)
            path, command = make(folder)
            result = run(command, folder)
        print(
            f"{make.__name__}: {path} bytes, exit {result.status}, {result.seconds:.1f} s,"
            f" {result.memory >> 20} MiB, {result.written >> 20} MiB written\n  {result.last}"
        )
        expected = (0,) if make is tar_of_members else (1, 2)
        if (
            result.status not in expected
            or result.memory > MOST_MEMORY
            or result.written > MOST_WRITTEN
        ):
            failed.append(make.__name__)
    assert not failed, failed


def zip_of_lines(folder: Path) -> tuple[int, list[str]]:
    """One member: a header and a gigabyte of empty lines."""
    packer, head = zlib.compressobj(wbits=-zlib.MAX_WBITS), b"network,isp\n" + ROW
    blocks, block = 60, b"\n" * (16 << 20)
    parts = [packer.compress(item) for item in (head, *[block] * blocks)]
    packed = b"".join([*parts, packer.flush()])
    size = len(head) + blocks * len(block)
    return _built(folder, "a.zip", _zip("a.csv", packed, size, zipfile.ZIP_DEFLATED))


def _zip(name: str, packed: bytes, size: int, method: int) -> bytes:
    """A zip archive of one member that is packed already; its CRC is not right."""
    about = struct.pack("<HHHHHIIIHH", 20, 0, method, 0, 33, 0, len(packed), size, len(name), 0)
    local = b"PK\3\4" + about + name.encode()
    central = b"PK\1\2" + struct.pack("<H", 20) + about + bytes(14) + name.encode()
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 1, 1, len(central), len(local + packed), 0)
    return local + packed + central + end


def many_members(folder: Path) -> tuple[int, list[str]]:
    """Eight members of 90 MB each, every one below what a single file may unpack to."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for at in range(8):
            archive.writestr(f"{at}.csv", b"network,isp\n" + ROW * 6_000_000)
    return _built(folder, "a.zip", stream.getvalue())


def shared_bytes(folder: Path) -> tuple[int, list[str]]:
    """One member of 45 MB that the directory names forty times."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.csv", b"network,isp\n" + ROW * 3_000_000)
    data = stream.getvalue()
    begin, end = data.rindex(b"PK\1\2"), data.rindex(b"PK\5\6")
    directory = data[begin:end] * 40
    record = bytearray(data[end:])
    record[8:12] = struct.pack("<HH", 40, 40)
    record[12:16] = struct.pack("<I", len(directory))
    return _built(folder, "a.zip", data[:begin] + directory + bytes(record))


def tar_of_members(folder: Path) -> tuple[int, list[str]]:
    """No bomb: 2,000 honest members; these must take seconds."""
    with tarfile.open(folder / "a.tar.gz", "w:gz") as archive:
        for at in range(2000):
            lines = [f"{9 + at % 90}.{at // 90}.{low}.0/24,{at}\n" for low in range(256)]
            content = ("network,isp\n" + "".join(lines)).encode()
            info = tarfile.TarInfo(f"{at:04}.csv")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return _built(folder, "a.tar.gz", (folder / "a.tar.gz").read_bytes())


def parquet_of_prefixes(folder: Path) -> tuple[int, list[str]]:
    """A text of 1 MiB that a Parquet file stores once and repeats in 10,240 rows."""
    count = 256
    networks = pa.array([f"8.8.{row}.0/24" for row in range(count)])
    long = pa.DictionaryArray.from_arrays(pa.array([0] * count), ["x" * (1 << 20)])
    table = pa.table({"network": networks, "isp": long.cast(pa.large_string())})
    schema = pa.schema([("network", pa.string()), ("isp", pa.large_string())])
    encoding = {"isp": "DELTA_BYTE_ARRAY", "network": "PLAIN"}
    options: dict[str, Any] = {"use_dictionary": False, "column_encoding": encoding}
    options |= {"compression": "zstd", "store_schema": False}
    with parquet.ParquetWriter(folder / "a.parquet", schema, **options) as writer:
        for _ in range(40):
            writer.write_table(table)
    return _built(folder, "a.parquet", (folder / "a.parquet").read_bytes(), "parquet")


def dataset_of_zeros(folder: Path) -> tuple[int, list[str]]:
    """An archive of ``pack`` whose manifest states 6 GiB for one file."""
    size = 6 << 30
    stated = json.loads((SMALL / fmt.MANIFEST).read_bytes())
    stated["files"][fmt.FILES[0]]["bytes"] = size
    text = canonical(stated)
    digest = f"{hashlib.sha256(text).hexdigest()}  {fmt.MANIFEST}\n".encode()
    codec, zeros = pa.Codec("zstd"), bytes(64 << 20)
    with (folder / "a.tar.zst").open("wb") as file:
        head = b"".join(
            (_header(name, len(data)) + data + bytes(-len(data) % 512))
            for name, data in ((fmt.MANIFEST, text), (f"{fmt.MANIFEST}.sha256", digest))
        )
        file.write(codec.compress(head + _header(fmt.FILES[0], size), asbytes=True))
        frame = codec.compress(zeros, asbytes=True)
        for _ in range(size // len(zeros)):
            file.write(frame)
    packed = (folder / "a.tar.zst").stat().st_size
    return packed, ["unpack", "a.tar.zst", "--output", "out"]


def _header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


def _built(
    folder: Path, name: str, content: bytes, format_name: str = "csv"
) -> tuple[int, list[str]]:
    (folder / name).write_bytes(content)
    (folder / "r.toml").write_text(RECIPE.format(format_name, name), encoding="utf-8")
    return len(content), ["build", "r.toml", "--output", "out"]


def run(command: list[str], folder: Path) -> Result:
    began, before = time.monotonic(), _bytes(folder)
    code = (
        "import resource, sys; from geolookup.cli import main\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({8 << 30}, {8 << 30}))\n"
        "main()"
    )
    peak = [0]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            peak[0] = max(peak[0], _bytes(folder) - before)

    watcher = threading.Thread(target=watch)
    watcher.start()
    with subprocess.Popen(
        [sys.executable, "-c", code, *command],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as process:
        limit = threading.Timer(TIME_LIMIT, process.kill)
        limit.start()
        assert process.stdout is not None
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        limit.cancel()
    done.set()
    watcher.join()
    last = (text.strip().splitlines() or [""])[-1]
    seconds = time.monotonic() - began
    return Result(process.returncode, seconds, usage.ru_maxrss << 10, peak[0], last)


def _bytes(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.lstat().st_size
        except OSError:  # renamed meanwhile
            continue
    return total


BOMBS = (
    zip_of_lines,
    many_members,
    shared_bytes,
    tar_of_members,
    parquet_of_prefixes,
    dataset_of_zeros,
)
