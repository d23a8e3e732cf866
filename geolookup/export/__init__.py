"""Datasets in the formats of other tools: which options a format has, and how it is written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from geolookup.errors import ExportError, line_text, near_match
from geolookup.export.formats import (
    FORMATS,
    Counts,
    ExportFormat,
    Option,
    Values,
    Write,
    format_by_suffix,
    options_of_formats,
)

if TYPE_CHECKING:
    from geolookup.dataset.files import Dataset


def write(
    dataset: Dataset,
    output: str | os.PathLike[str],
    name: str | None,
    values: Values,
    *,
    force: bool = False,
) -> Counts:
    """Write a dataset in the format of that name; an interrupted export leaves no output.

    ``output`` is a file or a folder, or ``-`` for standard output, whichever the format writes.
    Without a name its suffix names the format.

    Raises ExportError for an unknown format or option, OutputError if the output cannot be written,
    or exists and ``force`` is not set, and DatasetError for a damaged dataset.
    """
    from geolookup.export.outputs import open_target
    from geolookup.progress import beside

    export_format = _format(name, os.fspath(output))
    options = _check_options(export_format, values)
    # "text_rows:write_csv"
    module, _, function = export_format.writer.partition(":")
    writer: Write = getattr(import_module(f"{__name__}.{module}"), function)
    with open_target(dataset, os.fspath(output), export_format, force=force) as target:
        return writer(dataset, target, options, beside(os.fspath(output)))


def _format(name: str | None, output: str) -> ExportFormat:
    if name is None:
        export_format = format_by_suffix(output)
        if export_format is None:
            problem = f"the suffix of {line_text(output)!r} names no format"
            raise ExportError(problem, f"name one: {', '.join(FORMATS)}")
        return export_format
    if name not in FORMATS:
        raise ExportError(f"no format {name!r}", near_match(name, FORMATS))
    return FORMATS[name]


def _check_options(export_format: ExportFormat, values: Values) -> Values:
    """Return the values that are set; ExportError for an option of another format."""
    own = {option.name: option for option in export_format.options}
    checked_values = {}
    for name, value in values.items():
        if name not in own:
            raise ExportError(f"{export_format.name} has no option {name}", _whose(name, own))
        # An empty tuple of several values counts as not set.
        if value is not None and (checked := _value(own[name], value)) != ():
            checked_values[name] = checked
    return checked_values


def _whose(name: str, own: Iterable[str]) -> str:
    by_option = options_of_formats()
    formats = [other for option in by_option if option.name == name for other in by_option[option]]
    return f"it is an option of {', '.join(formats)}" if formats else near_match(name, own)


def _value(option: Option, value: Any) -> Any:
    """Return a value as writers expect it: a tuple of several, a choice as text."""
    if option.several:
        return (value,) if isinstance(value, str) else tuple(value)
    if option.choices and (value := str(value)) not in option.choices:
        raise ExportError(f"no {option.name} {value!r}", near_match(value, option.choices))
    return value
