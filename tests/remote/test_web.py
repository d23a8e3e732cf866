"""Fetching from a web server that fails in every way: a file is whole and right, or not taken.

The server is a real one: the test sees the bytes on the wire. Every failure is met
once with an empty cache and once with a good file in it; that has to stay.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import random
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from geolookup.errors import BuildError, DownloadError, OutputError
from tests.builder.sources.formats.test_generic_typed import as_parquet
from tests.builder.sources.reading.test_inputs import tarred, zipped, zstd
from tests.damage import limited_files
from tests.internals.remote import Limits
from tests.remote.serving import (
    FAST,
    MODIFIED,
    Act,
    Handler,
    cut,
    drop,
    fetched,
    file,
    kept_files,
    serving,
    status,
    trickle,
)

ROWS = b"network,isp\n" + b"".join(b"8.8.%d.0/24,isp %d\n" % (at, at) for at in range(256))
OTHER = ROWS.replace(b"isp ", b"net ")
PAGE = b"<!DOCTYPE html>\n<html><body>Please log in</body></html>"
SHA256 = hashlib.sha256(ROWS).hexdigest()
ONCE = gzip.compress(ROWS)
#: A whole file of each kind, by its suffix.
TEXTS = {"csv": ROWS, "json": b'{"network": "8.8.8.0/24"}\n'}
GOOD = TEXTS | {
    "bz2": bz2.compress(ROWS),
    "gz": ONCE,
    "mmdb": random.Random(1).randbytes(200_000) + b"\xab\xcd\xefMaxMind.com" + bytes(120_000),
    "parquet": as_parquet([{"network": "8.8.8.0/24"}]),
    "tgz": tarred({"a.csv": ROWS}),
    "xz": lzma.compress(ROWS),
    "zip": zipped({"a.csv": ROWS}),
    "zst": zstd(ROWS.decode()),
}


def unstated(content: bytes, **headers: str) -> Act:
    """An answer without a length: the end of the connection is the end of the file."""
    return file(content, Content_Length="", **headers)


def chunked(content: bytes, *, ended: bool = True) -> Act:
    def act(handler: Handler) -> None:
        handler.answer(200, b"", Content_Length="", Transfer_Encoding="chunked")
        for at in range(0, len(content), 1000):
            piece = content[at : at + 1000]
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        handler.wfile.write(b"0\r\n\r\n" if ended else b"")

    return act


def no_http(handler: Handler) -> None:
    handler.wfile.write(b"SSH-2.0-x\r\n")


def silent(handler: Handler) -> None:
    """Wait until the other side gives up."""
    handler.connection.recv(1)


def test_a_file_comes_once_until_it_is_new(tmp_path: Path) -> None:
    with serving(file(ROWS)) as site:
        first = fetched(f"{site.url}/a.csv", tmp_path)
        second = fetched(f"{site.url}/a.csv", tmp_path)
        assert (first.file.path.read_bytes(), first.file.path.name) == (ROWS, "a.csv")
        assert (first.changed, second.changed, second.file) == (True, False, first.file)
        assert (first.file.sha256, first.file.bytes) == (SHA256, len(ROWS))
        size = f"{len(ROWS):,} bytes"
        assert (str(first), str(second)) == (f"fetched {size}", f"unchanged, {size}")
        assert [headers.get("If-None-Match") for _, headers in site.asked] == [None, '"one"']
        site.plan[:] = [file(OTHER, '"two"')]
        assert fetched(f"{site.url}/a.csv", tmp_path).changed
        assert kept_files(tmp_path, "a.csv") == [OTHER]
        site.plan[:] = [file(ROWS, "", Last_Modified=MODIFIED)]
        assert fetched(f"{site.url}/b.csv", tmp_path).changed
        assert not fetched(f"{site.url}/b.csv", tmp_path).changed
        assert site.asked[-1][1]["If-Modified-Since"] == MODIFIED


def test_a_stated_digest_that_is_there_needs_no_server(tmp_path: Path) -> None:
    """Another one is fetched without a condition."""
    with serving(file(ROWS), file(OTHER)) as site:  # the same ETag for both
        fetched(f"{site.url}/a.csv", tmp_path, SHA256)
        assert not fetched(f"{site.url}/a.csv", tmp_path, SHA256).changed
        assert len(site.asked) == 1
        digest = hashlib.sha256(OTHER).hexdigest()
        assert fetched(f"{site.url}/a.csv", tmp_path, digest).file.path.read_bytes() == OTHER
        assert site.asked[1][1].get("If-None-Match") is None
        with pytest.raises(BuildError, match=f"of the file is {digest}, but 0000"):
            fetched(f"{site.url}/a.csv", tmp_path, "0" * 64)
        assert len(site.asked) == 3  # another attempt would bring the same
    assert kept_files(tmp_path, "a.csv") == [OTHER]


def test_a_damaged_cache_is_mended(tmp_path: Path) -> None:
    with serving(file(ROWS)) as site:
        path = fetched(f"{site.url}/a.csv", tmp_path).file.path
        for damaged, content in ((path, OTHER), (path.parents[1] / "kept.json", b'{"sha256": ["')):
            damaged.write_bytes(content)
            assert fetched(f"{site.url}/a.csv", tmp_path).changed
    assert path.read_bytes() == ROWS


GIVEN_UP = "(tried 4 times); try again later"
WAITING = "and to wait for 3,600 s (tried once); try again later"
NO_LENGTH = "the server does not state the length: the file may be truncated; state its sha256"
#: What the server does for a.csv, and words of the error.
BAD_TEXTS: dict[str, tuple[Act, str]] = {
    "401": (status(401, PAGE), "the server refuses access (401); state key_env or key_file"),
    "404": (status(404), "no such file on the server (404); correct the path"),
    "204": (status(204), "the server answers 204"),
    "304": (status(304), "says that a file is unchanged that was never fetched"),
    "503": (status(503, PAGE, Retry_After="0"), f"the server answers 503 {GIVEN_UP}"),
    "wait": (status(429, Retry_After="3600"), f"429, {WAITING}"),
    "cut": (cut(ROWS, 1000), f"at 1,000 of {len(ROWS):,} bytes {GIVEN_UP}"),
    "reset": (cut(ROWS, 1000, reset=True), GIVEN_UP),
    "drop": (drop, "127.0.0.1"),
    "no http": (no_http, f"cannot be reached (BadStatusLine) {GIVEN_UP}"),
    "negative": (file(ROWS, Content_Length="-5"), NO_LENGTH),
    "no length": (unstated(ROWS), NO_LENGTH),
    "chunks cut": (chunked(ROWS, ended=False), "the connection broke (Incomplete"),
    "empty": (file(b""), "the downloaded file is empty"),
    "page": (file(PAGE, Content_Type="text/html; charset=utf-8"), "an HTML page; the key"),
    "page as text": (file(b"\xef\xbb\xbf \n" + PAGE), "an HTML or XML page; the key"),
    "xml": (file(b"<?xml version='1.0'?><Error/>"), "HTML or XML page"),
    "other coding": (file(ROWS, Content_Encoding="br"), "which was not requested; state file ="),
    "slow": (trickle(ROWS, 0.01), f"fewer than 100,000 bytes a second {GIVEN_UP}"),
    "silent": (silent, f"cannot be reached (timeout) {GIVEN_UP}"),
    "large": (file(ROWS + b"#" * 400_000), "the file is larger than 350,000 bytes"),
    "large chunks": (chunked(ROWS * 100), "the file is larger than 350,000 bytes"),
}
#: Name of the file, what the server does, words of the error.
BAD = {name: ("a.csv", *bad) for name, bad in BAD_TEXTS.items()} | {
    "no length, gzip": ("a.csv.gz", unstated(ONCE), NO_LENGTH),
    "no tar": ("a.tgz", file(b"PK\3\4"), "the content is not a whole .tgz file"),
    "half zip": ("a.zip", file(GOOD["zip"][:-30]), "or damaged (File is not a zip file)"),
    "bad zip": ("a.zip", file(GOOD["zip"].replace(b"a.csv", b"b.csv", 1)), "or damaged ("),
}
for suffix in ("csv.gz", "csv.bz2", "csv.xz", "csv.zst", "parquet", "zip"):
    text = f"the content is not a whole .{suffix.removeprefix('csv.')} file; the key or"
    BAD[f"no {suffix}"] = (f"a.{suffix}", file(ROWS), text)
for suffix in GOOD.keys() - TEXTS.keys():
    half = GOOD[suffix][: len(GOOD[suffix]) // 2]
    text = "not a whole" if suffix in ("mmdb", "parquet") else "truncated or damaged ("
    BAD[f"{suffix} cut"] = (f"a.{suffix}", file(half), text)
SMALL = replace(FAST, largest=350_000)
#: Bounds that only their own case has: a busy machine may be slow in any other.
BOUNDS = {
    "slow": replace(FAST, pace_over=0.05, slowest=100_000),
    "silent": replace(FAST, silence=0.2),
}


def test_what_is_not_whole_and_right_is_not_taken(tmp_path: Path) -> None:
    """Neither into an empty cache, nor in place of the file that is there."""
    with serving(file(ROWS)) as site:
        for name, (path, act, text) in BAD.items():
            uri, limits = f"{site.url}/{path}", BOUNDS.get(name, SMALL)
            folder, site.plan[:] = tmp_path / name, [act]
            with pytest.raises(BuildError) as caught:
                fetched(uri, folder, "", limits)
            assert text in str(caught.value), name
            assert str(caught.value).startswith(f"{uri}: "), name
            assert "\n" not in str(caught.value), name
            assert kept_files(folder, path) == [], name
            if name == "wait":
                assert (type(caught.value), vars(caught.value)["wait"]) == (DownloadError, 3600)
            content = GOOD[path.rpartition(".")[2]]
            site.plan[:] = [file(content, '"before"'), act]
            assert fetched(uri, folder).file.path.read_bytes() == content, name
            if name == "304":  # which is now the right answer
                assert not fetched(uri, folder).changed
            else:
                with pytest.raises(BuildError):
                    fetched(uri, folder, "", limits)
            assert kept_files(folder, path) == [content], name


def test_whole_files_of_every_kind_are_taken(tmp_path: Path) -> None:
    """With a length or chunks; without them, with a digest."""
    with serving(file(ROWS)) as site:
        for suffix, content in {**GOOD, "tar.gz": GOOD["tgz"]}.items():
            for number, act in enumerate((file(content), chunked(content))):
                site.plan[:] = [act]
                exact = replace(FAST, largest=len(content))
                done = fetched(f"{site.url}/a.{suffix}", tmp_path / str(number), "", exact)
                assert done.file.path.read_bytes() == content, suffix
        site.plan[:] = [unstated(ROWS)]
        done = fetched(f"{site.url}/a.csv", tmp_path, SHA256)
        assert done.file.path.read_bytes() == ROWS
        site.plan[:] = [unstated(ROWS[:-9])]
        with pytest.raises(BuildError, match="the SHA-256 of the file is"):
            fetched(f"{site.url}/b.csv", tmp_path, SHA256)


def test_what_passes_is_tried_again_and_nothing_else(tmp_path: Path) -> None:
    passing = (*map(status, (408, 425, 429, 500, 502, 503, 504)), drop, cut(ROWS, 0))
    with serving(file(ROWS)) as site:
        for at, act in enumerate(passing):
            site.plan[:] = [act, act, file(ROWS)]
            done = fetched(f"{site.url}/a.csv", tmp_path / str(at))
            assert done.file.path.read_bytes() == ROWS
            assert len(site.asked) == 3 * (at + 1)
        for act in (status(401), status(404), file(PAGE, Content_Type="text/html")):
            site.plan[:], site.asked[:] = [act], []
            with pytest.raises(BuildError):
                fetched(f"{site.url}/a.csv", tmp_path)
            assert len(site.asked) == 1
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and not listening
        with pytest.raises(BuildError, match=r"cannot be reached .Connection refused"):
            fetched(f"http://127.0.0.1:{taken.getsockname()[1]}/a.csv", tmp_path)


def test_the_wait_a_server_asks_for_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("geolookup.remote.transfer.time.sleep", waits.append)
    for other in ("x", "-1", "9" * 5000, MODIFIED):
        acts = (status(429, Retry_After="7"), status(503, Retry_After=other), file(ROWS))
        with serving(*acts) as site:
            fetched(f"{site.url}/a.csv", tmp_path, "", Limits())
        assert waits[0] == 7
        assert 1 <= waits[1] <= 2  # the second failure: half to all of two seconds
        waits.clear()
    with serving(status(503)) as site:
        with pytest.raises(BuildError):
            fetched(f"{site.url}/a.csv", tmp_path / "busy", "", Limits())
        agents = [headers["User-Agent"] for _, headers in site.asked]
    assert agents == ["geolookup"] * 6


def test_gzip_for_the_way(tmp_path: Path) -> None:
    """Some servers state it of a file that is gzip itself; other files are refused."""
    with serving(file(ROWS)) as site:
        for coding in ("gzip", "x-gzip", "GZIP"):
            site.plan[:] = [file(ONCE, Content_Encoding=coding)]
            kept = fetched(f"{site.url}/a.csv.gz", tmp_path / coding).file
            assert kept.path.read_bytes() == ONCE
            with pytest.raises(BuildError, match=r'compressed.*; state file = "a\.csv\.gz"'):
                fetched(f"{site.url}/a.csv", tmp_path / coding)
            kept = fetched(f"{site.url}/a.csv", tmp_path / coding, file="a.csv.gz").file
            assert kept.path.read_bytes() == ONCE
    assert {headers["Accept-Encoding"] for _, headers in site.asked} == {"identity"}


def test_a_full_disk_keeps_what_can_be_resumed(tmp_path: Path) -> None:
    with serving(file(ROWS)) as site:
        problem = r"a.csv: cannot be written \(File too large\); check space and permissions"
        with limited_files(1024), pytest.raises(OutputError, match=problem):
            fetched(f"{site.url}/a.csv", tmp_path)
        (part,) = (tmp_path / "cache").glob("*/part/*")
        assert part.read_bytes() == ROWS[:1024]
        fetched(f"{site.url}/a.csv", tmp_path)
        assert len(kept_files(tmp_path, "a.csv")) == 1
        assert site.ranges == [None, "bytes=1024-"]
