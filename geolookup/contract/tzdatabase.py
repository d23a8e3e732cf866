"""Selects the time zone database: the system's zone files or the `tzdata` package.

Strategy: `zoneinfo` prefers the system's files whatever their age. Here the newer database
decides, by the version that each states. A process decides once, when it needs the first
zone, and reads two short files for it. The search path of `zoneinfo` belongs to the
application and remains as it is.

An IANA version is a year and a letter (2025b, 2026a), so text order is release order.
"""

from __future__ import annotations

import os
import sys
import zoneinfo
from functools import lru_cache
from io import BytesIO

from geolookup.contract.localtime import DATABASE_VARIABLE, LONGEST_KEY
from geolookup.errors import SettingsError

_KEY_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-_/")
# Some systems also store these: the zone of the machine, and copies of all keys, one of them
# with leap seconds.
_NOT_IANA = ("localtime", "posixrules", "posix/", "right/")
# Where a folder of zone files states its version: Linux and the package; macOS and the BSDs.
_VERSION_FILES = (("tzdata.zi", "# version "), ("+VERSION", ""))


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
    wanted = os.environ.get(DATABASE_VARIABLE) or "auto"
    if wanted == "auto":
        return newer(_system(), _package())
    if wanted not in ("system", "package"):
        raise SettingsError(
            f"{DATABASE_VARIABLE} is {wanted!r}; write auto, system or package, or unset it"
        )
    found = _system() if wanted == "system" else _package()
    if found is None:
        missing = {"system": "no folder of zone files", "package": "no tzdata package"}[wanted]
        raise SettingsError(
            f"{DATABASE_VARIABLE} is {wanted!r}, but there is {missing}; install it, or write auto"
        )
    return found


def newer(system: Database | None, package: Database | None) -> Database:
    """Return the database with the greater version; None is one that is not installed.

    Equal versions: the system. An unknown version is older than any: systems that state none are
    minimal or old, and the package is upgraded with the other packages.
    """
    if package is None:
        return system or Database("none", None)
    if system is not None and (system.version or "") >= (package.version or ""):
        return system
    return package


def _system() -> Database | None:
    """Return the first folder of `zoneinfo.TZPATH` that exists; ``$PYTHONTZPATH`` sets the path."""
    folder = next(filter(os.path.isdir, zoneinfo.TZPATH), None)
    return None if folder is None else Database("system", _stated_version(folder))


def _stated_version(folder: str) -> str | None:
    for name, before in _VERSION_FILES:
        try:
            with open(os.path.join(folder, name), "rb", buffering=0) as stream:
                line = stream.read(80).decode("ascii", "replace").partition("\n")[0]
        except OSError:
            continue
        if found := _version(line.removeprefix(before).strip()):
            return found
    return None


def _package() -> Database | None:
    try:
        import tzdata
    except ImportError:
        return None
    return Database("package", _version(str(getattr(tzdata, "IANA_VERSION", ""))))


def _version(text: str) -> str | None:
    """Return a version as it is, such as "2025b" or "2025b-11-gf8a3"; None for another text."""
    return text if text[:4].isdecimal() and text[4:5].islower() else None


def rules(zone: str) -> zoneinfo.ZoneInfo | None:
    """Load a zone from the deciding database, else from the other one; None for an unknown key.

    Keys are case-sensitive. No text of moderate length raises an error.
    """
    if not is_key(zone):
        return None
    # Case-insensitive file systems find "europe/paris" too.
    if sys.platform in ("win32", "darwin") and zone not in zone_names():
        return None
    found = _package_rules(zone) if database().source == "package" else None
    if found is not None:
        return found
    try:
        return zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError, TypeError):
        return None  # no such file; another kind of file; a directory; a Python module


def is_key(zone: str) -> bool:
    """Return whether a text has the form of a key of IANA; the zone need not exist."""
    return (
        0 < len(zone) <= LONGEST_KEY
        and _KEY_CHARACTERS.issuperset(zone)
        and not zone.startswith(_NOT_IANA)
        and "//" not in f"/{zone}/"
    )


def _package_rules(zone: str) -> zoneinfo.ZoneInfo | None:
    import tzdata

    path = os.path.join(tzdata.__path__[0], "zoneinfo", *zone.split("/"))
    try:
        # The loader of the package also reads from a zip file.
        data = tzdata.__loader__.get_data(path)
        return zoneinfo.ZoneInfo.from_file(BytesIO(data), key=zone)
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Return the keys of all zones that `rules` can load; this searches the zone files, 20 ms."""
    return frozenset(
        name for name in zoneinfo.available_timezones() if not name.startswith(_NOT_IANA)
    )
