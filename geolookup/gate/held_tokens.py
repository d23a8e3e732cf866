"""The leased tokens that a process holds, in a file that outlives the process.

Strategy: each process maps a file of its own and locks it as long as it lives. Per account the
file has the number of tokens that the process leased and has not used. If a process is killed,
the system releases its lock, and another process returns the tokens to the store.

A record never exceeds what its process holds. So a token is not returned twice, and the quota
is not exceeded, at whatever instruction a process is killed:

- A token leaves the record before its request is admitted, and tokens that are returned leave it
  before the store is told. A lease enters it after the store has granted it.
- Whoever returns the tokens of another process clears the record first.

So a killed process loses the request in progress, and at most one lease: the tokens that it was
leasing or returning at that moment. Records from before a restart of the machine may be out of
date: they are removed and nothing is returned.
"""

from __future__ import annotations

import errno
import logging
import mmap
import os
import secrets
import stat
import struct
import sys
import time
from contextlib import ExitStack, suppress
from io import FileIO
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from geolookup.filesystem.lock import locked_if_free
from geolookup.gate.account_store import Store
from geolookup.gate.leases import Tokens
from geolookup.gate.sliding_window import SECOND

#: Eight words: the digest of a key, by which the account is found in whatever store is there now,
#: its tokens, and three unused ones. The first record of a file is unused, because its first byte
#: cannot be read on Windows while it is locked.
_RECORD = struct.Struct("=32sQ24x")
_WORDS = 8
_DIGEST_WORDS = 4
#: Bytes by which the file grows, the least that any system maps: 256 records or more.
_CHUNK = mmap.ALLOCATIONGRANULARITY
_SUFFIX = ".leases"
#: When the machine started, a hyphen, random digits. Files with other names are not ours.
_NAMES = f"[0-9]*-*{_SUFFIX}"
_log = logging.getLogger("geolookup")


class Place(NamedTuple):
    """Words, and where the word of the tokens is; the digest is before it."""

    words: memoryview
    at: int


class Record:
    """The tokens that this process holds of one account. Its caller holds the account's lock."""

    __slots__ = ("_at", "_digest", "_file", "_words")

    def __init__(self, file: HeldTokens, digest: bytes) -> None:
        self._file, self._digest = file, digest
        self._words: memoryview | None = None
        self._at = 0

    def hold(self, tokens: int) -> None:
        """Record that the process holds so many tokens, in one write of 8 bytes."""
        if self._words is None:
            if not tokens:
                return
            self._words, self._at = self._file.reserve(self._digest)
        self._words[self._at] = tokens

    def release(self) -> None:
        """Free the place of the record, which holds 0 tokens now."""
        if self._words is not None:
            self._file.free(Place(self._words, self._at))
            self._words = None


class HeldTokens:
    """The file of this process in a folder, created with its first record."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._held = ExitStack()  # of the file's lock
        self._path: Path | None = None
        self._free: list[Place] = []
        self._reserved = 0
        self._usable = True

    def record(self, digest: bytes) -> Record:
        """Return the record of a key's account, which takes no place until it holds tokens."""
        return Record(self, digest)

    def reserve(self, digest: bytes) -> Place:
        """Return a place for the tokens of a key's account.

        If the file cannot be written, the place is in memory only: the process continues, and
        what it holds is lost if it is killed.
        """
        with self._lock:
            if not self._free:
                self._free = self._grown()
            words, at = self._free.pop()
            self._reserved += 1
        words[at - _DIGEST_WORDS : at] = memoryview(digest).cast("Q")
        return Place(words, at)

    def free(self, place: Place) -> None:
        """Make a place free for another account."""
        with self._lock:
            self._reserved -= 1
            self._free.append(place)

    def return_ended(self, store: Store) -> None:
        """Return the tokens of processes that have ended; AccountsError if the store fails."""
        with suppress(OSError):  # there is no folder
            _check_private(self._folder)
            for path in self._folder.glob(_NAMES):
                if path != self._path:
                    with suppress(OSError):  # another process has removed it, or it is no file
                        _return(path, store)
            if self._path is None:
                self._folder.rmdir()

    def close(self) -> None:
        """Remove the file if it has no records, else leave it to other processes."""
        with self._lock:
            self._usable = False
            self._free.clear()
            self._held.close()
            with suppress(OSError):  # another process may have removed it
                if self._path is not None and not self._reserved:
                    self._path.unlink()
                    self._folder.rmdir()

    def detach(self) -> None:
        """Leave the file to the parent, in a child process, which inherited its lock."""
        self._held.close()

    def _grown(self) -> list[Place]:
        """Return new places, at least one."""
        try:
            if self._usable:
                self._path = self._path or self._create()
                return _more_places(self._path)
        except OSError as error:
            self._usable = False
            _log.warning(
                "%s: %s; the tokens that this process leases are lost if it is killed",
                self._folder,
                error.strerror,
            )
        return _places(memoryview(bytearray(_RECORD.size)))

    def _create(self) -> Path:
        """Create and lock the file; repeat if another process took it for one that ended."""
        while True:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            _check_private(self._folder)
            path = self._folder / f"{_machine_start()}-{secrets.token_hex(8)}{_SUFFIX}"
            with suppress(FileNotFoundError), ExitStack() as stack:
                path.write_bytes(bytes(_RECORD.size))
                if stack.enter_context(locked_if_free(path)) and path.exists():
                    self._held = stack.pop_all()
                    return path


def _more_places(path: Path) -> list[Place]:
    """Append zeros to a file up to the end of a chunk, and map the chunk.

    The zeros are written, so that a full disk is an error here and not a signal later.
    """
    with path.open("r+b", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        begin = end // _CHUNK * _CHUNK
        if file.write(bytes(begin + _CHUNK - end)) != begin + _CHUNK - end:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        places = _places(memoryview(mmap.mmap(file.fileno(), _CHUNK, offset=begin)))
    return places if begin else places[1:]


def _places(content: memoryview) -> list[Place]:
    words = content.cast("Q")
    return [Place(words, at) for at in range(_DIGEST_WORDS, len(words), _WORDS)]


def _return(path: Path, store: Store) -> None:
    """Return the tokens in a file if its process has ended, and remove the file."""
    with locked_if_free(path) as ended:
        if not ended:
            return
        if _of_this_start(path):
            with path.open("r+b", buffering=0) as file:
                _return_records(file, store)
        path.unlink()


def _of_this_start(path: Path) -> bool:
    started = path.name.partition("-")[0]
    return started.isdecimal() and abs(int(started) - _machine_start()) < SECOND


def _return_records(file: FileIO, store: Store) -> None:
    file.seek(_RECORD.size)
    content = file.read()
    for place in range(0, len(content) - _RECORD.size + 1, _RECORD.size):
        digest, tokens = _RECORD.unpack_from(content, place)
        key = store.find(digest) if tokens else None
        if key is not None:
            file.seek(_RECORD.size + place)
            file.write(bytes(_RECORD.size))
            # Bucket 0 is long past: the rate has them again when their own bucket is past.
            store.take_back(key.account, [Tokens(0, tokens)])


def _machine_start() -> int:
    """Return when the machine started, Unix microseconds; it differs after each restart.

    It differs after the clock was set too: then the tokens are lost.
    """
    return round((time.time() - time.monotonic()) * SECOND)


def _check_private(folder: Path) -> None:
    """Raise OSError if other users could have written a folder."""
    found = folder.lstat()
    private = stat.S_ISDIR(found.st_mode)
    if sys.platform != "win32":
        private = private and found.st_uid == os.geteuid() and not found.st_mode & 0o077
    if not private:
        raise PermissionError(errno.EPERM, "not a folder of this user alone")
