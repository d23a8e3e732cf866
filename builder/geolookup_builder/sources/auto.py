"""``format = "auto"``: the format of a source, detected from its files.

Every format examines the beginning of every file. A detection that the file's
name supports takes precedence over one with only its content. Exactly one format must
remain, the same for all files; otherwise an error describes the file or lists the candidates.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace

from geolookup.errors import BuildError
from geolookup.filesystem.unpacking import reading_errors
from geolookup_builder.datasets.source import is_dataset_path
from geolookup_builder.recipe.document import DATASET, Recipe, SourceSpec
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import (
    Detection,
    NearMissError,
    Opening,
    opening,
)
from geolookup_builder.sources.unknown_files import unknown_file, unknown_files

NAME = "auto"
REMEDY = 'name the format in a recipe: format = "…"'
Detections = Mapping[str, Detection]
Guard = Callable[[SourceSpec], AbstractContextManager[object]]


def options(formats: Mapping[str, SourceFormat]) -> dict[str, frozenset[str]]:
    """Return the options of each format; ``auto`` accepts the options of all formats."""
    by_name = {name: source_format.all_options for name, source_format in formats.items()}
    return {**by_name, DATASET: frozenset(), NAME: frozenset().union(*by_name.values())}


def detect_formats(
    recipe: Recipe, formats: Mapping[str, SourceFormat], guard: Guard = nullcontext
) -> Recipe:
    """Return the recipe with the format of every source named; ``guard`` wraps each detection."""
    sources = []
    for source in recipe.sources:
        with guard(source), _recipe_hint(source):
            sources.append(detect_format(source, formats))
    return replace(recipe, sources=tuple(sources))


@contextmanager
def _recipe_hint(spec: SourceSpec) -> Iterator[None]:
    """Let the near miss of data without a recipe name the command that prints one."""
    try:
        yield
    except NearMissError as error:
        if spec.recipe != spec.base / spec.path or not error.options:
            raise
        command = shlex.join(["geolookup", "check", str(spec.recipe)])
        remedy = f"to print a recipe that reads it: {command}"
        raise BuildError(error.path, error.problem, line=error.line, remedy=remedy) from error


def with_note(spec: SourceSpec, tables: Iterator[SourceTable]) -> Iterator[SourceTable]:
    """Yield the tables of a source, the first with a note on the detected format."""
    note = f"detected {spec.format}: {spec.detection}" if spec.detection else ""
    for table in tables:
        yield replace(table, note="; ".join(filter(None, (note, table.note))))
        note = ""


def detect_format(spec: SourceSpec, formats: Mapping[str, SourceFormat]) -> SourceSpec:
    """Return the source with its format named. Raises BuildError unless exactly one fits."""
    if spec.format != NAME:
        return spec
    if not spec.options and is_dataset_path(spec):
        return replace(spec, format=DATASET, detection="a dataset of geolookup")
    of_files = _detections(spec, formats)
    name = _common_format(spec, of_files, formats)
    for key in spec.options:
        if key not in formats[name].all_options:
            problem = (
                f"source.{key} is not an option of {name}, the format detected for {spec.path}"
            )
            raise BuildError(spec.recipe, problem, remedy=f"drop it, or {REMEDY}")
    reasons = dict.fromkeys(detections[name].reason for detections in of_files.values())
    return replace(spec, format=name, detection=", ".join(reasons))


def _members(spec: SourceSpec) -> list[Member]:
    """Return all files of a folder, an archive or a glob, with any suffix."""
    files = members(spec.path, spec.base, ("",))
    return [member for member in files if not member.label.endswith("/")]


def _detections(spec: SourceSpec, formats: Mapping[str, SourceFormat]) -> dict[str, Detections]:
    """Return the detections of each file that is data. Raises BuildError if none is."""
    files, of_files, misses = _members(spec), dict[str, Detections](), list[NearMissError]()
    for member in files:
        start = opening(member, spec)
        detections, miss = _examine(start, formats)
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


def _examine(
    start: Opening, formats: Mapping[str, SourceFormat]
) -> tuple[Detections, NearMissError | None]:
    """Return the strongest detections of a file, or its nearest miss."""
    detections, misses = dict[str, Detection](), list[NearMissError]()
    for name, source_format in formats.items():
        try:
            if detection := source_format.detect(start):
                detections[name] = detection
        except NearMissError as error:
            misses.append(error)
        except BuildError:  # a check of its reader fails
            continue
    nearest = max(misses, key=lambda error: error.score, default=None)
    # A file name that only one of two formats uses decides between them.
    own = {name: detection for name, detection in detections.items() if detection.has_own_name}
    most = max((detection.score for detection in detections.values()), default=0)
    best = own or {name: one for name, one in detections.items() if one.score == most}
    has_unknown = any(detection.unknown for detection in best.values())
    # With columns beside those of a vendor it may be a table of one's own.
    if nearest and has_unknown and nearest.score >= most:
        return {}, nearest
    return best, nearest


def _are_alike(of_files: Iterable[Detections], names: set[str]) -> bool:
    """Return whether formats read every file alike: ``network,country`` is of several."""
    return bool(names) and all(
        one.meaning is not None and one.meaning == first.meaning
        for first, *others in ([found[name] for name in names] for found in of_files)
        for one in (first, *others)
    )


def _common_format(
    spec: SourceSpec, of_files: Mapping[str, Detections], formats: Mapping[str, SourceFormat]
) -> str:
    """Return the one format that was detected in all files; the stated options may decide."""
    # Files that fit {csv, ipinfo} and {ipinfo}: ipinfo.
    common = set.intersection(*(set(detections) for detections in of_files.values()))
    common = {name for name in common if spec.options.keys() <= formats[name].options} or common
    if len(common) == 1 or _are_alike(of_files.values(), common):
        return min(common, key=[*formats].index)
    if common:
        label, detections = next(iter(of_files.items()))
        candidates = [
            f"{name} ({detection.reason})"
            for name, detection in detections.items()
            if name in common
        ]
        problem = f"fits several formats: {', '.join(candidates)}"
        raise BuildError(label, problem, remedy=REMEDY)
    kinds = dict.fromkeys(" or ".join(detections) for detections in of_files.values())
    problem = f"files of several formats: {'; '.join(kinds)}"
    raise BuildError(spec.base / spec.path, problem, remedy="make it several sources")
