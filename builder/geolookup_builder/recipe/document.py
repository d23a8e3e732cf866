"""The recipe: the sources of a dataset in order of precedence, and its options.

TOML is read into frozen dataclasses. An unknown key or value is an error with a near
match; nothing is ignored.
"""

from __future__ import annotations

import datetime as dt
import json
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from pathlib import Path, PurePath
from typing import Any

from geolookup.contract.schema import CONTRACT, Schema
from geolookup.dataset.manifest import Manifest
from geolookup.dataset.metadata import iso_day
from geolookup.errors import BuildError, line_text, near_match
from geolookup.filesystem import open_regular
from geolookup.remote import address as remote_address
from geolookup.remote.address import Remote
from geolookup.store.in_force import Retention
from geolookup_builder import limits, restrictions
from geolookup_builder.demands import Quality, read_quality
from geolookup_builder.limits import RowRules
from geolookup_builder.recipe.names import declared_columns, source_columns
from geolookup_builder.recipe.table import Table, recipe_errors
from geolookup_builder.restrictions import Restriction

#: The format of a source that is a dataset.
DATASET = "dataset"
#: The format of a source that states none: it is detected.
AUTO = "auto"
#: The folder of the packaged recipes.
PACKAGED = Path(__file__).resolve().parents[1] / "recipes"
#: As ``date`` of a source: the day of the server's Last-Modified.
LAST_MODIFIED = "last-modified"
_TEXTS = ("name", "date", "licence", "attribution", "url")
#: Provenance stores the number of a source in one byte; 0 is "no source", 255 is reserved.
MAX_SOURCES = 254
#: The fields that ``[enrich]`` can fill.
_ENRICHED = ("time_zone", "region_code")


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """One ``[[source]]``: what to read, how, and its texts in the manifest."""

    format: str
    path: str
    fields: frozenset[str]  # columns of a source; others are dropped
    options: Mapping[str, Any]
    texts: Mapping[str, str]
    recipe: Path
    base: Path  # the folder that a relative path is relative to
    detection: str = ""  # why the files are of the format, if ``auto`` detected it
    sha256: str = ""  # of a source that is one file, if the recipe has it
    remote: Remote | None = None  # the address to download from
    expected: RowRules = field(default_factory=RowRules)  # of its rows
    schema: Schema = CONTRACT  # of the recipe
    restriction: Restriction = field(default_factory=Restriction)  # the part that is kept
    manifest: Manifest | None = None  # that a dataset must have

    @property
    def name(self) -> str:
        """The stated name, else the file's or glob's; the manifest holds no folders."""
        file = self.remote.file if self.remote else PurePath(self.path).name
        return self.texts.get("name", line_text(file))

    @property
    def is_dataset(self) -> bool:
        """Whether it is a dataset, not files of a vendor."""
        return self.format == DATASET


@dataclass(frozen=True, slots=True)
class Recipe:
    """A whole recipe; ``countries`` replaces the packaged table of countries."""

    path: Path
    name: str
    sources: tuple[SourceSpec, ...]
    countries: Path | None = None
    enrich: tuple[str, ...] = ()  # fields to fill if no source states them
    fail_if: tuple[str, ...] | None = None  # gates of an update; None: the default ones
    retention: Retention = field(default_factory=Retention)  # of generations, by an update
    needs: str = ""  # printed before a first update: its download, memory, disk and time
    schema: Schema = CONTRACT
    fields: frozenset[str] | None = None  # of the dataset; None: all
    quality: Quality = field(default_factory=Quality)
    warnings: tuple[str, ...] = ()  # of sources that are missing

    @property
    def gates(self) -> tuple[str, ...]:
        """The gates of ``[update]``, the default ones if it states none."""
        from geolookup.comparison.gates import default_gates

        own = (field.path for field in self.schema.own)
        return default_gates(own) if self.fail_if is None else self.fail_if

    def unguarded(self) -> str:
        """Return a warning if ``fail_if`` replaces the default gates by others than for losses."""
        guards = "coverage_lost", "null_gained"
        gates = self.fail_if
        if not gates or any(guard in gate for gate in gates for guard in guards):
            return ""
        return (
            f"{self.path}: no gate of update.fail_if refuses lost data, and the default gates do"
            ' not apply; add "coverage_lost > 5%"'
        )


def read_recipe(path: Path, formats: Mapping[str, frozenset[str]]) -> Recipe:
    """Read a recipe; ``formats`` are the known source formats and the options of each.

    Raises BuildError for a key that is missing, unknown or of the wrong type.
    """
    return of_document(path, _parse(path), formats)


def of_document(
    path: Path,
    values: Mapping[str, Any],
    formats: Mapping[str, frozenset[str]],
    labels: Iterable[Path] = (),
) -> Recipe:
    """Check the tables of a recipe; ``path`` names it in messages, ``labels`` name its sources."""
    document = Table(path, "", values)
    document.only("dataset", "columns", "source", "tables", "enrich", "update", "quality")
    dataset = document.table("dataset", "name", "fields")
    items = document.values.get("source") or [{}]
    if not isinstance(items, list) or not all(isinstance(source, dict) for source in items):
        raise BuildError(path, "source is not a list of tables", remedy="write [[source]]")
    name = dataset.text("name") if "name" in dataset else line_text(path.stem)
    if len(items) > MAX_SOURCES:
        problem = f"{len(items)} sources, at most {MAX_SOURCES} are allowed"
        raise BuildError(path, problem, remedy="name files of one format with a glob")
    schema = declared_columns(document)
    sources = tuple(
        _source(Table(label, "source", source), formats, schema)
        for label, source in zip(chain(labels, repeat(path)), items, strict=False)
    )
    countries = document.table("tables", "countries").texts(["countries"]).get("countries")
    enrich = document.table("enrich", *_ENRICHED)
    return Recipe(
        path,
        name,
        sources,
        countries=path.parent / countries if countries else None,
        enrich=tuple(field for field in _ENRICHED if enrich.switch(field)),
        **_update(document, schema),
        schema=schema,
        fields=_fields(dataset, "dataset", schema),
        quality=read_quality(document, schema),
    )


def toml_text(value: str | int | Sequence[str] | Mapping[str, Any]) -> str:
    """Return a value, or a table of values with bare keys, as a recipe states it."""
    if not isinstance(value, Mapping):  # TOML has the escapes of JSON, but no surrogates
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return f"{{ {', '.join(f'{key} = {toml_text(text)}' for key, text in value.items())} }}"


def _parse(path: Path) -> dict[str, Any]:
    try:
        with open_regular(path) as stream:
            return tomllib.load(stream)
    except OSError as error:
        problem = f"the recipe cannot be read ({error.strerror or error})"
        raise BuildError(path, problem, remedy="name a recipe file") from error
    except (ValueError, RecursionError) as error:  # ValueError: also for a number of 4,301 digits
        raise BuildError(path, f"not TOML: {error}", remedy="correct the recipe") from error


def _source(table: Table, formats: Mapping[str, frozenset[str]], schema: Schema) -> SourceSpec:
    name, recipe = table.text("format") if "format" in table else AUTO, table.recipe
    if name not in formats:
        hint = near_match(name, formats, fallback='format = "auto" detects the format')
        raise BuildError(recipe, f"unknown format {name!r}", remedy=hint)
    keys = ("format", "path", "fields", *_TEXTS, *remote_address.TEXTS, remote_address.SWITCH)
    table.only(*keys, *limits.KEYS, *restrictions.KEYS, *sorted(formats[name]))
    texts, insecure = table.texts(remote_address.TEXTS), table.switch(remote_address.SWITCH)
    location = remote_address.location(recipe, table.text("path"), texts, insecure=insecure)
    remote = location if isinstance(location, Remote) else None
    path = remote.uri if remote else str(location)
    fields = _fields(table, "source", schema) or frozenset(schema.by_source_column)
    return SourceSpec(
        format=name,
        path=path,
        fields=fields,
        options={key: value for key, value in table.values.items() if key in formats[name]},
        texts=_texts(table),
        recipe=recipe,
        base=_base(recipe, path),
        sha256=remote_address.sha256(recipe, texts),
        remote=remote,
        expected=limits.read_expected(table, schema),
        schema=schema,
        restriction=restrictions.read_restriction(table, fields, schema),
    )


def _texts(table: Table) -> dict[str, str]:
    """Return the texts of a source; BuildError for a date that is not one."""
    date = table.values.get("date", LAST_MODIFIED)
    if isinstance(date, dt.date):  # TOML reads 2026-01-31 without quotes as a date
        return _texts(Table(table.recipe, "source", {**table.values, "date": date.isoformat()}))
    texts = table.texts(_TEXTS)
    if date != LAST_MODIFIED and iso_day(date) is None:
        remedy = f'write date = "2026-11-20", "2026-11" or "{LAST_MODIFIED}"'
        table.refuse("date", f"is {date!r}, not a date of ISO 8601", remedy)
    return texts


def _base(recipe: Path, path: str) -> Path:
    """Return the folder that a local path in a recipe is relative to.

    That is the folder of the recipe. A packaged recipe has no folder that users put files into:
    its paths are relative to the current folder, except paths of files that come with a recipe.
    """
    is_own = recipe.parent != PACKAGED or (PACKAGED / Path(path).parts[0]).is_dir()
    return recipe.parent if is_own else Path()


def _fields(table: Table, name: str, schema: Schema) -> frozenset[str] | None:
    """Return the columns of the fields that a source or the dataset keeps; None for all."""
    if "fields" not in table:
        return None
    names = table.values["fields"]
    if not isinstance(names, list) or not names:
        problem = "is empty" if names == [] else "is not a list"
        table.refuse("fields", problem, 'write fields = ["country_code"]')
    columns = (source_columns(table.recipe, f"{name}.fields", field, schema) for field in names)
    return frozenset(chain.from_iterable(columns))


def _update(document: Table, schema: Schema) -> dict[str, Any]:
    """Return the members of a recipe that ``[update]`` states: gates, retention, needs."""
    table = document.table("update", "fail_if", "keep", "keep_for", "needs")
    with recipe_errors(table.recipe, "update."):
        retention = Retention.of(table.values.get("keep"), table.values.get("keep_for"))
    members = {"retention": retention, **table.texts(["needs"])}
    if "fail_if" not in table:
        return members
    from geolookup.comparison.gates import diff_metrics

    paths = (field.path for field in schema.own)
    return {**members, "fail_if": table.gates("fail_if", diff_metrics(paths))}
