"""Datasets in the formats of other tools: the registry of formats, and how a file is written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from geolookup.errors import ExportError, near_match
from geolookup.export import plain_formats
from geolookup.export.format import Counts, Format, Option, Values, Write
from geolookup.export.mmdb import options as mmdb

if TYPE_CHECKING:
    from geolookup.dataset.files import Dataset
    from geolookup.progress import Progress

#: A format is added by writing its module and naming it here.
_FORMATS = (
    Format("mmdb", "MaxMind DB, for the readers of that format", "mmdb.write", mmdb.OPTIONS),
    *plain_formats.FORMATS,
)
FORMATS = {each.name: each for each in _FORMATS}


def options_of_formats() -> dict[Option, list[str]]:
    """Return the options of all formats, each with the names of the formats that have it."""
    found: dict[Option, list[str]] = {}
    for each in FORMATS.values():
        for option in each.options:
            found.setdefault(option, []).append(each.name)
    return found


def write(
    dataset: Dataset,
    output: str | os.PathLike[str],
    name: str,
    values: Values,
    progress: Progress | None = None,
    *,
    force: bool = False,
) -> Counts:
    """Write a dataset in the format of that name; an interrupted export leaves no output.

    ``output`` is a file, a folder, or ``-`` for standard output, as the format says.

    Raises ExportError for an unknown format and for an option that is not one of its own,
    OutputError where the output cannot be written, or exists and ``force`` is not set, and
    DatasetError for a damaged dataset.
    """
    from geolookup.export.outputs import opened
    from geolookup.progress import Progress

    chosen = _format(name)
    stated = _stated(chosen, values)
    module = import_module(f"{__name__}.{chosen.module}")
    writer: Write = module.write
    with opened(dataset, os.fspath(output), chosen, force=force) as place:
        return writer(dataset, place, stated, progress or Progress(silent=True))


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise ExportError(f"no format {name!r}", near_match(name, FORMATS))
    return FORMATS[name]


def _stated(chosen: Format, values: Values) -> Values:
    """Return the values that were given, all of them of options of the format."""
    own = {option.name: option for option in chosen.options}
    found = {}
    for given, value in values.items():
        if given not in own:
            raise ExportError(f"{chosen.name} has no option {given}", _whose(given, own))
        if value is not None and (stated := _value(own[given], value)) != ():
            found[given] = stated
    return found


def _whose(given: str, own: Iterable[str]) -> str:
    formats = [
        each
        for option, names in options_of_formats().items()
        if option.name == given
        for each in names
    ]
    return f"it is one of {', '.join(formats)}" if formats else near_match(given, own)


def _value(option: Option, value: Any) -> Any:
    """Return a value as formats take it: a tuple of several, a choice as text."""
    if option.several:
        return (value,) if isinstance(value, str) else tuple(value)
    if option.choices and (value := str(value)) not in option.choices:
        raise ExportError(f"no {option.name} {value!r}", near_match(value, option.choices))
    return value
