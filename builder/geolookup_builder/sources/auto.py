"""``format = "auto"``: the format of a source, detected from its files.

Every format examines the beginning of every file. A detection that the file's
name supports takes precedence over one with only its content. Exactly one format must
remain, the same for all files; otherwise an error describes the file or lists the candidates.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from geolookup.errors import BuildError
from geolookup.filesystem.unpacking import reading_errors
from geolookup_builder.datasets.source import is_dataset_path
from geolookup_builder.recipe.document import DATASET, Recipe, SourceSpec
from geolookup_builder.sources import FORMATS
from geolookup_builder.sources.guesses import unknown_file, unknown_files
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.reader import SourceTable
from geolookup_builder.sources.reading.sniffing import (
    Detection,
    NearMissError,
    Opening,
    opening,
)

NAME = "auto"
REMEDY = 'name the format in a recipe: format = "…"'
Detections = Mapping[str, Detection]
Guard = Callable[[SourceSpec], AbstractContextManager[object]]


def options() -> dict[str, frozenset[str]]:
    """Return the options of each format; ``auto`` accepts the options of all formats."""
    by_name = {name: source_format.all_options for name, source_format in FORMATS.items()}
    return {**by_name, DATASET: frozenset(), NAME: frozenset().union(*by_name.values())}


def detect_formats(recipe: Recipe, guard: Guard = nullcontext) -> Recipe:
    """Return the recipe with the format of every source named; ``guard`` wraps each detection."""
    sources = []
    for spec in recipe.sources:
        with guard(spec):
            try:
                sources.append(detect_format(spec))
            except NearMissError as error:
                if spec.recipe != spec.base / spec.path or not error.options:
                    raise
                # Of data without a recipe: the command that prints one.
                command = shlex.join(["geolookup", "check", str(spec.recipe)])
                remedy = f"to print a recipe that reads it: {command}"
                raise BuildError(
                    error.path, error.problem, line=error.line, remedy=remedy
                ) from error
    return replace(recipe, sources=tuple(sources))


def with_note(spec: SourceSpec, tables: Iterator[SourceTable]) -> Iterator[SourceTable]:
    """Yield the tables of a source, the first with a note on the detected format."""
    note = f"detected {spec.format}: {spec.detection}" if spec.detection else ""
    for table in tables:
        yield replace(table, note="; ".join(filter(None, (note, table.note))))
        note = ""


def detect_format(spec: SourceSpec) -> SourceSpec:
    """Return the source with its format named. Raises BuildError unless exactly one fits."""
    if spec.format != NAME:
        return spec
    if not spec.options and is_dataset_path(spec):
        return replace(spec, format=DATASET, detection="a dataset of geolookup")
    of_files = _detections(spec)
    name = _common_format(spec, of_files)
    for key in spec.options:
        if key not in FORMATS[name].all_options:
            problem = (
                f"source.{key} is not an option of {name}, the format detected for {spec.path}"
            )
            raise BuildError(spec.recipe, problem, remedy=f"drop it, or {REMEDY}")
    reasons = dict.fromkeys(detections[name].reason for detections in of_files.values())
    return replace(spec, format=name, detection=", ".join(reasons))


def _detections(spec: SourceSpec) -> dict[str, Detections]:
    """Return the detections of each file that is data. Raises BuildError if none is."""
    # All files of a folder, an archive or a glob, with any suffix.
    files = [file for file in members(spec.path, spec.base, ("",)) if file.label[-1:] != "/"]
    of_files, misses = dict[str, Detections](), list[NearMissError]()
    for member in files:
        start = opening(member, spec)
        detections, miss = _examine(start)
        if detections:
            of_files[member.label] = detections
        elif miss:
            misses.append(miss)
        elif not _among_others(member, spec):
            raise unknown_file(start)
    if misses and not of_files:
        raise max(misses, key=lambda error: error.score)
    if not of_files:
        raise unknown_files(spec.base / spec.path, files)
    return of_files


def _among_others(member: Member, spec: SourceSpec) -> bool:
    """Return whether a file is from an archive or folder: these may hold licences besides data."""
    path = spec.base / spec.path
    with reading_errors(str(path)):  # such as a name longer than the system allows
        return len(member.file_names) > 1 or path.is_dir()


def _examine(start: Opening) -> tuple[Detections, NearMissError | None]:
    """Return the strongest detections of a file, or its nearest miss."""
    detections, misses = dict[str, Detection](), list[NearMissError]()
    for name, source_format in FORMATS.items():
        try:
            if detection := source_format.detect(start):
                detections[name] = detection
        except NearMissError as error:
            misses.append(error)
        except BuildError:  # a check of its reader fails
            continue
    nearest = max(misses, key=lambda error: error.score, default=None)
    # A file name that only one of two formats uses decides between them.
    own = {name: one for name, one in detections.items() if one.has_own_name}
    most = max((one.score for one in detections.values()), default=0)
    best = own or {name: one for name, one in detections.items() if one.score == most}
    # With columns beside those of a vendor it may be a table of one's own.
    if nearest and nearest.score >= most and any(one.unknown for one in best.values()):
        return {}, nearest
    return best, nearest


def _common_format(spec: SourceSpec, of_files: Mapping[str, Detections]) -> str:
    """Return the one format that was detected in all files; the stated options may decide."""
    # Files that fit {csv, ipinfo} and {ipinfo}: ipinfo.
    common = set.intersection(*(set(detections) for detections in of_files.values()))
    common = {name for name in common if spec.options.keys() <= FORMATS[name].options} or common
    names = sorted(common, key=[*FORMATS].index)
    meanings = [[one[name].meaning for name in names] for one in of_files.values()]
    # Several may read a file alike, such as ``network,country``.
    if len(names) == 1 or (
        names and all(m[0] is not None and m.count(m[0]) == len(m) for m in meanings)
    ):
        return names[0]
    label, detections = next(iter(of_files.items()))
    if names:
        fitting = [f"{name} ({detections[name].reason})" for name in names]
        raise BuildError(label, f"fits several formats: {', '.join(fitting)}", remedy=REMEDY)
    kinds = dict.fromkeys(" or ".join(detections) for detections in of_files.values())
    problem = f"files of several formats: {'; '.join(kinds)}"
    raise BuildError(spec.base / spec.path, problem, remedy="make it several sources")
