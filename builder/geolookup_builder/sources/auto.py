"""``format = "auto"``: the format of a source, told by its files.

Strategy: every format is asked whether a file is its own. A claim that the file's name supports
goes before one by content alone; then exactly one format must be left, and the same one
for all files. Nothing is guessed: anything else is an error that says what was considered.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping
from dataclasses import replace

from geolookup.errors import BuildError
from geolookup_builder.recipe import Recipe, SourceSpec
from geolookup_builder.sources.reading.detection import Claim, Opening, opening
from geolookup_builder.sources.reading.headerless import file_names
from geolookup_builder.sources.reading.inputs import Member, explained, members
from geolookup_builder.sources.reading.reader import Format, SourceTable

NAME = "auto"
_SHOWN = 60
_REMEDY = 'name the format: format = "…"'
Claims = Mapping[str, Claim]


def options(formats: Mapping[str, Format]) -> dict[str, frozenset[str]]:
    """Return the options of each format; ``auto`` takes any and hands them on."""
    known = {name: each.options for name, each in formats.items()}
    return {**known, NAME: frozenset().union(*known.values())}


def resolved(recipe: Recipe, formats: Mapping[str, Format]) -> Recipe:
    """Return the recipe with the format of every source named."""
    sources = (_resolved(each, formats) if each.format == NAME else each for each in recipe.sources)
    return replace(recipe, sources=tuple(sources))


def noted(spec: SourceSpec, tables: Iterator[SourceTable]) -> Iterator[SourceTable]:
    """Yield the tables of a source, the first with a note of what it was taken for."""
    note = f"taken for {spec.format}: {spec.taken_for}" if spec.taken_for else ""
    for table in tables:
        yield replace(table, note="; ".join(filter(None, (note, table.note))))
        note = ""


def _resolved(spec: SourceSpec, formats: Mapping[str, Format]) -> SourceSpec:
    claimed = {each.label: _claims(each, spec, formats) for each in _members(spec)}
    claimed = {label: claims for label, claims in claimed.items() if claims}
    name = _agreed(spec, claimed, formats)
    for key in spec.options:
        if key not in formats[name].options:
            problem = f"source.{key} is no option of {name}, which {spec.path} was taken for"
            raise BuildError(spec.recipe, problem, remedy=f"drop it, or {_REMEDY}")
    reasons = dict.fromkeys(claims[name].reason for claims in claimed.values())
    return replace(spec, format=name, taken_for=", ".join(reasons))


def _members(spec: SourceSpec) -> list[Member]:
    """Return all files of a folder, an archive or a glob, whatever they are called."""
    pattern = f"{glob.escape(spec.path)}/**/*" if _is_folder(spec) else spec.path
    return [each for each in members(pattern, spec.base, ("",)) if not each.label.endswith("/")]


def _is_folder(spec: SourceSpec) -> bool:
    place = spec.base / spec.path
    with explained(str(place)):  # a name longer than the system allows
        return place.is_dir()


def _claims(member: Member, spec: SourceSpec, formats: Mapping[str, Format]) -> Claims:
    """Return the strongest claims to a file; none to what lies beside the data of a delivery."""
    read = opening(member)
    found = {name: claim for name, each in formats.items() if (claim := _claim(each, read))}
    if not found and not _delivered_with_others(member, spec):
        raise _unknown(member.label, repr(read.first_line[:_SHOWN]), formats)
    named = {name: claim for name, claim in found.items() if claim.named}
    return named or found


def _claim(each: Format, read: Opening) -> Claim | None:
    """Return a format's claim; a check of its reader that fails is none."""
    try:
        return each.claims(read)
    except BuildError:
        return None


def _delivered_with_others(member: Member, spec: SourceSpec) -> bool:
    """Return whether a file was not named itself: licences come with archives and folders."""
    return len(file_names(member)) > 1 or _is_folder(spec)


def _agreed(spec: SourceSpec, claimed: Mapping[str, Claims], formats: Mapping[str, Format]) -> str:
    """Return the one format that all files are of."""
    place = spec.base / spec.path
    if not claimed:
        raise _unknown(str(place), "files, none of them known", formats)
    common = set.intersection(*(set(claims) for claims in claimed.values()))
    if len(common) == 1:
        return common.pop()
    if common:
        label, claims = next(iter(claimed.items()))
        fitting = [f"{name} ({claim.reason})" for name, claim in claims.items() if name in common]
        problem = f"fits several formats: {', '.join(fitting)}"
        raise BuildError(label, problem, remedy=_REMEDY)
    kinds = dict.fromkeys(" or ".join(claims) for claims in claimed.values())
    problem = f"files of several formats: {'; '.join(kinds)}"
    raise BuildError(place, problem, remedy="make it several sources")


def _unknown(label: str, what: str, formats: Mapping[str, Format]) -> BuildError:
    problem = f"not recognised, it holds {what} (considered: {', '.join(sorted(formats))})"
    return BuildError(label, problem, remedy=_REMEDY)
