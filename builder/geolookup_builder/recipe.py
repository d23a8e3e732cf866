"""The recipe: the sources of a dataset in order of precedence, and its options.

TOML is read into frozen dataclasses. An unknown key or value is an error with a near
match; nothing is ignored.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

from geolookup.errors import BuildError, DiffError, name_text, near_match
from geolookup.filesystem.regular import open_regular
from geolookup.remote import address as remote_address
from geolookup.remote.address import Remote
from geolookup_builder import expected_rows
from geolookup_builder.expected_rows import Expected
from geolookup_builder.schema import FIELDS

#: The folder of the packaged recipes.
PACKAGED = Path(__file__).resolve().parent / "recipes"
_TEXTS = ("name", "date", "licence", "attribution", "url")
#: Provenance stores the number of a source in one byte; 0 is "no source", 255 is reserved.
MAX_SOURCES = 254
#: What ``explain`` may return: the deciding sources, or also the rows of all sources.
_EXPLAINS = ("sources", "full")
_MAX_KM = 50.0
_KEEP = 2
_HALF_CIRCUMFERENCE = 20_040  # of the Earth, in kilometres


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """One ``[[source]]``: what to read, how, and its texts in the manifest."""

    format: str
    path: str
    provides: frozenset[str]
    options: Mapping[str, Any]
    texts: Mapping[str, str]
    recipe: Path
    base: Path  # the folder that a relative path is relative to
    detected: str = ""  # why the files are of the format, if ``auto`` detected it
    sha256: str = ""  # of a source that is one file, if the recipe has it
    remote: Remote | None = None  # the address to download from
    expected: Expected = field(default_factory=Expected)  # of its rows

    @property
    def name(self) -> str:
        """The stated name, else that of the file or glob; the manifest holds no folders."""
        file = self.remote.file if self.remote else PurePath(self.path).name
        return self.texts.get("name", name_text(file))


@dataclass(frozen=True, slots=True)
class Enrich:
    """``[enrich]``: which fields to fill where no source states them; ``stations`` for weather."""

    time_zone: bool = False
    region_code: bool = False
    stations: Path | None = None
    max_km: float = _MAX_KM


@dataclass(frozen=True, slots=True)
class Update:
    """``[update]``: gates of an update, and the number of generations that it keeps."""

    fail_if: tuple[str, ...] = ()
    keep: int = _KEEP


@dataclass(frozen=True, slots=True)
class Recipe:
    """A whole recipe; ``countries`` replaces the packaged table of countries."""

    path: Path
    name: str
    sources: tuple[SourceSpec, ...]
    countries: Path | None = None
    enrich: Enrich = field(default_factory=Enrich)
    explains_rows: bool = False
    update: Update = field(default_factory=Update)


def of_data(path: Path, detecting: str) -> Recipe:
    """Return the recipe of one local source, in the format that detects formats.

    ``path`` is a file or folder of data; the dataset has its name, without suffixes.
    """
    place = path if path.name else path.absolute()
    source = SourceSpec(
        format=detecting,
        path=place.name,
        provides=frozenset(FIELDS),
        options={},
        texts={},
        recipe=place,
        base=place.parent,
    )
    return Recipe(place, name_text(place.name.partition(".")[0] or place.name), (source,))


def load(path: Path, formats: Mapping[str, frozenset[str]]) -> Recipe:
    """Read a recipe; ``formats`` are the known source formats and the options of each.

    Raises BuildError for a key that is missing, unknown or of the wrong type.
    """
    document = _parse(path)
    _only_known(path, "", document, ("dataset", "source", "tables", "enrich", "update"))
    dataset = _table(path, document, "dataset")
    _only_known(path, "dataset.", dataset, ("name", "explain"))
    name = _string(path, "dataset.", dataset, "name")
    listed = document.get("source", [])
    if not isinstance(listed, list) or not listed or not all(isinstance(s, dict) for s in listed):
        raise BuildError(path, "no [[source]]", remedy="add one with format and path")
    if len(listed) > MAX_SOURCES:
        problem = f"{len(listed)} sources, at most {MAX_SOURCES} are allowed"
        raise BuildError(path, problem, remedy="name files of one format with a glob")
    sources = tuple(_source(path, source, formats) for source in listed)
    countries, enrich = _countries(path, document), _enrich(path, document)
    explains, update = _explains_rows(path, dataset), _update(path, document)
    return Recipe(path, name, sources, countries, enrich, explains, update)


def _update(path: Path, document: dict[str, Any]) -> Update:
    section = "update."
    table = _optional(path, "", document, "update")
    _only_known(path, section, table, ("fail_if", "keep"))
    keep = table.get("keep", _KEEP)
    if not isinstance(keep, int) or isinstance(keep, bool) or keep < 1:
        problem = f"{section}keep is not a number of generations, 1 or more"
        raise BuildError(path, problem, remedy=f"write keep = {_KEEP}")
    return Update(_gates(path, table.get("fail_if", [])), keep)


def _gates(path: Path, stated: object) -> tuple[str, ...]:
    if not isinstance(stated, list) or not all(isinstance(gate, str) for gate in stated):
        remedy = 'write fail_if = ["country_moved > 2%"]'
        raise BuildError(path, "update.fail_if is not a list of texts", remedy=remedy)
    if stated:
        from geolookup.comparison.gates import DIFF_METRICS

        try:
            DIFF_METRICS.gates(stated)
        except DiffError as error:
            problem = f"update.fail_if: {error.problem}"
            raise BuildError(path, problem, remedy=error.remedy) from error
    return tuple(stated)


def _explains_rows(path: Path, dataset: dict[str, Any]) -> bool:
    value = dataset.get("explain", _EXPLAINS[0])
    if value not in _EXPLAINS:
        problem = f"unknown value {value!r} of dataset.explain"
        raise BuildError(path, problem, remedy=near_match(str(value), _EXPLAINS))
    return bool(value == "full")


def _countries(path: Path, document: dict[str, Any]) -> Path | None:
    tables = _optional(path, "", document, "tables")
    _only_known(path, "tables.", tables, ("countries",))
    if "countries" not in tables:
        return None
    return path.parent / _string(path, "tables.", tables, "countries")


def _enrich(path: Path, document: dict[str, Any]) -> Enrich:
    section = "enrich."
    table = _optional(path, "", document, "enrich")
    _only_known(path, section, table, ("time_zone", "region_code", "weather"))
    zone, region = (_switch(path, section, table, key) for key in ("time_zone", "region_code"))
    if "weather" not in table:
        return Enrich(zone, region)
    weather = _optional(path, section, table, "weather")
    _only_known(path, "enrich.weather.", weather, ("stations", "max_km"))
    stations = path.parent / _string(path, "enrich.weather.", weather, "stations")
    return Enrich(zone, region, stations, _kilometres(path, weather))


def _switch(path: Path, section: str, table: dict[str, Any], key: str) -> bool:
    value = table.get(key, False)
    if not isinstance(value, bool):
        problem = f"{section}{key} is neither true nor false"
        raise BuildError(path, problem, remedy=f"write {key} = true")
    return value


def _kilometres(path: Path, weather: dict[str, Any]) -> float:
    value = weather.get("max_km", _MAX_KM)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value <= _HALF_CIRCUMFERENCE:
        problem = f"enrich.weather.max_km is not between 0 and {_HALF_CIRCUMFERENCE}"
        raise BuildError(path, problem, remedy=f"write max_km = {_MAX_KM:g}")
    return float(value)


def _parse(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path) as stream:
            return tomllib.load(stream)
    except OSError as error:
        problem = f"the recipe cannot be read ({error.strerror or error})"
        raise BuildError(path, problem, remedy="name a recipe file") from error
    except (ValueError, RecursionError) as error:  # ValueError: also for a number of 4,301 digits
        raise BuildError(path, f"not TOML: {error}", remedy="correct the recipe") from error


def _source(path: Path, table: dict[str, Any], formats: Mapping[str, frozenset[str]]) -> SourceSpec:
    section = "source."
    name = _string(path, section, table, "format")
    if name not in formats:
        raise BuildError(path, f"unknown format {name!r}", remedy=near_match(name, formats))
    fixed = ("format", "path", "provides", *_TEXTS, *remote_address.TEXTS, remote_address.SWITCH)
    _only_known(path, section, table, (*fixed, *expected_rows.KEYS, *sorted(formats[name])))
    location, sha256 = _location(path, table)
    place = location.uri if isinstance(location, Remote) else location
    return SourceSpec(
        format=name,
        path=place,
        provides=_provides(path, table),
        options={key: value for key, value in table.items() if key in formats[name]},
        texts={key: _text(path, section, table, key) for key in _TEXTS if key in table},
        recipe=path,
        base=_base(path, place),
        sha256=sha256,
        remote=location if isinstance(location, Remote) else None,
        expected=expected_rows.stated(path, table),
    )


def _base(recipe: Path, path: str) -> Path:
    """Return the folder that a local path in a recipe is relative to.

    That is the folder of the recipe. A packaged recipe has no folder that users put files into:
    its paths are relative to the current folder, except those of files that come with it.
    """
    if recipe.parent != PACKAGED or Path(path).parts[:1] == (recipe.stem,):
        return recipe.parent
    try:
        return Path.cwd()
    except FileNotFoundError as error:  # removed meanwhile
        problem = "its files are looked for in the current folder, which does not exist"
        raise BuildError(recipe.stem, problem, remedy="change to another folder") from error


def _location(path: Path, table: dict[str, Any]) -> tuple[str | Remote, str]:
    """Return the path or address of a source, and its digest, empty without one."""
    section = "source."
    texts = {
        key: _string(path, section, table, key) for key in remote_address.TEXTS if key in table
    }
    insecure = _switch(path, section, table, remote_address.SWITCH)
    location = remote_address.location(
        path, _string(path, section, table, "path"), texts, insecure=insecure
    )
    return location, remote_address.sha256(path, texts)


def _provides(path: Path, table: dict[str, Any]) -> frozenset[str]:
    stated = table.get("provides", list(FIELDS))
    if not isinstance(stated, list):
        raise BuildError(path, "source.provides is not a list", remedy="list field names")
    for name in stated:
        if name not in FIELDS:
            raise BuildError(
                path, f"unknown field {name!r} in provides", remedy=near_match(str(name), FIELDS)
            )
    return frozenset(stated)


def _table(path: Path, document: dict[str, Any], key: str) -> dict[str, Any]:
    table = document.get(key)
    if not isinstance(table, dict):
        raise BuildError(path, f"no [{key}] table", remedy=f"add [{key}]")
    return table


def _optional(path: Path, section: str, document: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a table; empty if the recipe has none."""
    table = document.get(key, {})
    if not isinstance(table, dict):
        raise BuildError(path, f"no [{section}{key}] table", remedy=f"add [{section}{key}]")
    return table


def _string(path: Path, section: str, table: dict[str, Any], key: str) -> str:
    value = table.get(key)
    if not isinstance(value, str) or not value:
        problem = f"{section}{key} is missing" if value is None else f"{section}{key} is not a text"
        raise BuildError(path, problem, remedy=f'write {key} = "…"')
    return value


def _text(path: Path, section: str, table: dict[str, Any], key: str) -> str:
    """Return a text; a TOML date is accepted and written as ISO 8601."""
    if isinstance(table[key], dt.date):
        return str(table[key].isoformat())
    return _string(path, section, table, key)


def _only_known(path: Path, section: str, table: dict[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise BuildError(path, f"unknown key {section}{key}", remedy=near_match(key, known))
