"""Selects the time zone database: the system's zone files or the `tzdata` package.

Strategy: `zoneinfo` prefers the system's files whatever their age. Here the newer database
decides, by the version that each states. A process decides once, when it needs the first
zone, and reads two short files for it. The search path of `zoneinfo` belongs to the application and
remains unchanged; that module is slow to import, and only the Python kernel needs it.

An IANA version is a year and a letter (2025b, 2026a), so text order is release order.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache

from geolookup.contract.localtime import DATABASE_VARIABLE
from geolookup.errors import SettingsError

_KEY_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-_/")
_LONGEST_KEY = 64  # twice the longest key
# Some systems also store these: the zone of the machine, and copies of all keys, one of them
# with leap seconds.
_NOT_IANA = ("localtime", "posixrules", "posix/", "right/")
# Where a folder of zone files states its version: Linux and the package; macOS and the BSDs.
_VERSION_FILES = (("tzdata.zi", "# version "), ("+VERSION", ""))
# Where Python looks unless it was built otherwise; `sysconfig` takes half a millisecond to say so.
_USUAL = ("/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo")
# A FIFO must not wait; Windows must not change line ends.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_LARGEST = 1 << 16  # bytes of a zone file; the largest of the tz database has 4,000


class Database:
    """A time zone database.

    `source` is "system", "package" or "none", `version` as IANA writes it; None: unknown.
    """

    __slots__ = ("source", "version")

    def __init__(self, source: str, version: str | None) -> None:
        self.source, self.version = source, version

    def __str__(self) -> str:
        if self.source == "none":
            return "none"
        name = {"system": "system", "package": "tzdata package"}[self.source]
        return f"{self.version or 'unknown version'} ({name})"


class ZoneFile:
    """The path and the bytes of a TZif file."""

    __slots__ = ("data", "path")

    def __init__(self, path: str, data: bytes) -> None:
        self.path, self.data = path, data


@lru_cache(maxsize=1)
def database() -> Database:
    """Return the database that decides in this process; the first call selects it.

    ``$GEOLOOKUP_TZ`` is "auto" (the default: the newer one), "system" or "package". Raises
    SettingsError for any other value, and for a database that is not installed.
    """
    choice = os.environ.get(DATABASE_VARIABLE) or "auto"
    if choice == "auto":
        return newer(_stated("system", search_path()), _stated("package", _package_folders()))
    if choice not in ("system", "package"):
        raise SettingsError(
            f"{DATABASE_VARIABLE} is {choice!r}; write auto, system or package, or unset it"
        )
    database = _stated(choice, search_path() if choice == "system" else _package_folders())
    if database is None:
        missing = {"system": "no folder of zone files", "package": "no tzdata package"}[choice]
        raise SettingsError(
            f"{DATABASE_VARIABLE} is {choice!r}, but there is {missing}; install it, or write auto"
        )
    return database


def newer(system: Database | None, package: Database | None) -> Database:
    """Return the database with the greater version; None is one that is not installed.

    Equal versions: the system. An unknown version is older than any: systems that state none are
    minimal or old, and the package is upgraded with the other packages.
    """
    if package is None:
        return system or Database("none", None)
    # "2025b" < "2025c" < "2026a"; an unknown version is "".
    if system is not None and (system.version or "") >= (package.version or ""):
        return system
    return package


def search_path() -> tuple[str, ...]:
    """Return the folders of `zoneinfo.TZPATH`; ``$PYTHONTZPATH`` sets them."""
    if "zoneinfo" in sys.modules:  # the application may have changed the path
        import zoneinfo

        return tuple(zoneinfo.TZPATH)
    folders = os.environ.get("PYTHONTZPATH")
    if folders is None:
        of_conda = os.path.join(sys.base_prefix, "share", "zoneinfo")
        return tuple(dict.fromkeys((of_conda, *_USUAL))) if os.path.isdir(of_conda) else _USUAL
    return tuple(filter(os.path.isabs, folders.split(os.pathsep)))


def _package_folders() -> tuple[str, ...]:
    """Return the folder of the package `tzdata`, if it is installed."""
    try:
        import tzdata
    except ImportError:
        return ()
    return (os.path.join(tzdata.__path__[0], "zoneinfo"),)


def _stated(source: str, folders: tuple[str, ...]) -> Database | None:
    """Return the database in the first folder that exists, with the version that it states."""
    folder = next(filter(os.path.isdir, folders), None)
    if folder is None:
        return None
    for name, before in _VERSION_FILES:
        line = _read(os.path.join(folder, name), 80).decode("ascii", "replace").partition("\n")[0]
        version = line.removeprefix(before).strip()
        # "2025b" or "2025b-11-gf8a3": a year and a lower-case letter.
        if version[:4].isdecimal() and version[4:5].islower():
            return Database(source, version)
    return Database(source, None)


def is_key(zone: str) -> bool:
    """Return whether a text has the form of a key of IANA; the zone need not exist."""
    return (
        0 < len(zone) <= _LONGEST_KEY
        and _KEY_CHARACTERS.issuperset(zone)
        and not zone.startswith(_NOT_IANA)
        # No empty part; a dot is not a character of keys, so ".." cannot occur.
        and "//" not in f"/{zone}/"
    )


@lru_cache(maxsize=1024)  # more than all keys; a changed database takes effect after a restart
def zone_file(zone: str) -> ZoneFile | None:
    """Return the file of a zone: the deciding database's, else the other one's.

    None if neither has the key. The file may be damaged. No text raises an error.
    """
    for folder in folders() if is_key(zone) else ():
        path = f"{folder}/{zone}"
        data = _read(path, _LARGEST)
        if data[:4] == b"TZif":
            return ZoneFile(path, data)
    return None


@lru_cache(maxsize=1)
def folders() -> tuple[str, ...]:
    """Return the folders of zone files, the deciding database's first."""
    system, package = search_path(), _package_folders()
    return package + system if database().source == "package" else system + package


def _read(path: str, size: int) -> bytes:
    """Return the first bytes of a file, `size` at most; none if it cannot be read."""
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError:
        return b""
    try:
        return os.read(descriptor, size)
    except OSError:
        return b""  # a directory
    finally:
        os.close(descriptor)


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Return the keys of all zones that `zone_file` can read; this searches the files, 20 ms."""
    import zoneinfo

    return frozenset(
        name for name in zoneinfo.available_timezones() if not name.startswith(_NOT_IANA)
    )
