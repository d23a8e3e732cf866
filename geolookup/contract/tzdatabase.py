"""Selects the time zone database: the system's zone files or the `tzdata` package.

Strategy: `zoneinfo` prefers the system's files whatever their age. Here the newer database
decides, by the version that each states. A process decides once, when it needs the first
zone, and reads two short files for it. The search path of `zoneinfo` belongs to the application and
remains unchanged; that module itself is slow to import and not needed.

An IANA version is a year and a letter (2025b, 2026a), so text order is release order.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache, partial

from geolookup.contract.localtime import DATABASE_VARIABLE, LONGEST_KEY
from geolookup.errors import SettingsError

TYPE_CHECKING = False  # as mypy reads it; importing typing costs a cold start 2 ms
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

    from geolookup.contract import tzif

_KEY_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-_/")
# Some systems also store these: the zone of the machine, and copies of all keys, one of them
# with leap seconds.
_NOT_IANA = ("localtime", "posixrules", "posix/", "right/")
# Where a folder of zone files states its version: Linux and the package; macOS and the BSDs.
_VERSION_FILES = (("tzdata.zi", "# version "), ("+VERSION", ""))
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


@lru_cache(maxsize=1)
def database() -> Database:
    """Return the database that decides in this process; the first call selects it.

    ``$GEOLOOKUP_TZ`` is "auto" (the default: the newer one), "system" or "package". Raises
    SettingsError for any other value, and for a database that is not installed.
    """
    choice = os.environ.get(DATABASE_VARIABLE) or "auto"
    if choice == "auto":
        return newer(_system(), _package())
    if choice not in ("system", "package"):
        raise SettingsError(
            f"{DATABASE_VARIABLE} is {choice!r}; write auto, system or package, or unset it"
        )
    database = _system() if choice == "system" else _package()
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


def _system() -> Database | None:
    """Return the first folder of the search path that exists."""
    folder = next(filter(os.path.isdir, search_path()), None)
    return None if folder is None else Database("system", _stated_version(folder))


def search_path() -> tuple[str, ...]:
    """Return the folders of `zoneinfo.TZPATH`; ``$PYTHONTZPATH`` sets them."""
    if "zoneinfo" in sys.modules:  # the application may have changed the path
        import zoneinfo

        return tuple(zoneinfo.TZPATH)
    folders = os.environ.get("PYTHONTZPATH")
    if folders is None:
        folders = _configured_path()
    return tuple(filter(os.path.isabs, folders.split(os.pathsep)))


def _configured_path() -> str:
    """Return the search path with which Python was built, as `sysconfig` reads it.

    That module takes 1 ms: it also derives variables that no search needs.
    """
    multiarch = getattr(sys.implementation, "_multiarch", "")
    try:
        module = __import__(f"_sysconfigdata_{sys.abiflags}_{sys.platform}_{multiarch}")
        variables = module.build_time_vars
    except (ImportError, AttributeError):  # Windows, or another Python than CPython
        from sysconfig import get_config_vars

        variables = get_config_vars()
    return variables.get("TZPATH") or ""


def _stated_version(folder: str) -> str | None:
    for name, before in _VERSION_FILES:
        try:
            with open(os.path.join(folder, name), "rb", buffering=0) as stream:
                line = stream.read(80).decode("ascii", "replace").partition("\n")[0]
        except OSError:
            continue
        if version := _version(line.removeprefix(before).strip()):
            return version
    return None


def _package() -> Database | None:
    tzdata = _tzdata()
    if tzdata is None:
        return None
    return Database("package", _version(str(getattr(tzdata, "IANA_VERSION", ""))))


def _tzdata() -> ModuleType | None:
    try:
        import tzdata
    except ImportError:
        return None
    module: ModuleType = tzdata
    return module


def _version(text: str) -> str | None:
    """Return a version unchanged, such as "2025b" or "2025b-11-gf8a3"; None for another text."""
    # "2025" and a lower-case letter.
    return text if text[:4].isdecimal() and text[4:5].islower() else None


def rules(zone: str) -> tzif.Zone | None:
    """Load a zone from the deciding database, else from the other one; None for an unknown key.

    A malformed file counts as missing; its transitions are checked on first use (`tzif`).
    Keys are case-sensitive. No text of moderate length raises an error.
    """
    from geolookup.contract.tzif import read  # here: the compiled kernel rarely needs it

    for reader in _readers_of(zone):
        data = reader(zone)
        rules_of_file = None if data is None else read(data)
        if rules_of_file is not None:
            return rules_of_file
    return None


def file(zone: str) -> bytes | None:
    """Return the bytes of a zone's file: the first that `rules` tries. None for an unknown key."""
    for read in _readers_of(zone):
        data = read(zone)
        if data is not None:
            return data
    return None


def _readers_of(zone: str) -> tuple[Callable[[str], bytes | None], ...]:
    return _readers() if is_key(zone) else ()


def is_key(zone: str) -> bool:
    """Return whether a text has the form of a key of IANA; the zone need not exist."""
    return (
        0 < len(zone) <= LONGEST_KEY
        and _KEY_CHARACTERS.issuperset(zone)
        and not zone.startswith(_NOT_IANA)
        # No empty part; a dot is not a character of keys, so ".." cannot occur.
        and "//" not in f"/{zone}/"
    )


@lru_cache(maxsize=1)
def _readers() -> tuple[Callable[[str], bytes | None], ...]:
    """Return the functions that read a zone's file, the deciding database's first."""
    system = [partial(_from_folder, folder) for folder in search_path()]
    package = _package_reader()
    if database().source == "package":
        return (*package, *system)
    return (*system, *package)


def _package_reader() -> list[Callable[[str], bytes | None]]:
    tzdata = _tzdata()
    if tzdata is None:
        return []
    folder = os.path.join(tzdata.__path__[0], "zoneinfo")
    if os.path.isdir(folder):
        return [partial(_from_folder, folder)]
    return [partial(_by_loader, tzdata.__loader__, folder)]


def _from_folder(folder: str, zone: str) -> bytes | None:
    # Case-insensitive file systems find "europe/paris" too.
    if sys.platform in ("win32", "darwin") and not _has_name(folder, zone):
        return None
    try:
        descriptor = os.open(f"{folder}/{zone}", _FLAGS)
    except OSError:
        return None
    try:
        return os.read(descriptor, _LARGEST)
    except OSError:
        return None  # a directory
    finally:
        os.close(descriptor)


def _has_name(folder: str, zone: str) -> bool:
    """Return whether a file has exactly this name, in upper and lower case too."""
    for name in zone.split("/"):
        if name not in _file_names(folder):
            return False
        folder = os.path.join(folder, name)
    return True


@lru_cache(maxsize=128)  # more than the folders of zone files
def _file_names(folder: str) -> frozenset[str]:
    try:
        return frozenset(os.listdir(folder))
    except OSError:
        return frozenset()


def _by_loader(loader: Any, folder: str, zone: str) -> bytes | None:
    """Read from a package that is in a zip file."""
    try:
        data: bytes = loader.get_data(os.path.join(folder, *zone.split("/")))
    except OSError:
        return None
    return data


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Return the keys of all zones that `rules` can load; this searches the zone files, 20 ms."""
    import zoneinfo

    return frozenset(
        name for name in zoneinfo.available_timezones() if not name.startswith(_NOT_IANA)
    )
