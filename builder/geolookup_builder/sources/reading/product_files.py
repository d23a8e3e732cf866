"""Files with a header that are products of a vendor: CSV, JSON lines or Parquet.

A file is identified by its columns, never by its name: teams rename the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from types import MappingProxyType, ModuleType

from geolookup.errors import BuildError
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading import delimited, jsonlines, parquet
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.plans import COMMAS, Planner, Reading
from geolookup_builder.sources.reading.products import Header, Product, best, typed_header
from geolookup_builder.sources.reading.reader import Batch, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, begins_json

_SHOWN = 5  # columns, in messages


def syntax_of(member: Member) -> ModuleType:
    """Return the module that reads the syntax of a file."""
    if parquet.begins(member):
        return parquet
    return jsonlines if begins_json(member, b"{") else delimited


def _header(syntax: ModuleType, member: Member) -> Header:
    """Return the columns of a file; BuildError for a repeated name in a CSV."""
    if syntax is delimited:
        return csv_header(member)
    return typed_header(member.label, syntax.schema(member))


def csv_header(member: Member) -> Header:
    """Return the columns that a CSV states; BuildError for a repeated name."""
    names = delimited.header_names(member, COMMAS)
    for name in names:
        if names.count(name) > 1:
            raise BuildError(member.label, f"column {name!r} twice", line=1, remedy="drop one")
    return Header(member.label, names, line=1)


def product_tables(
    spec: SourceSpec, products: Sequence[Product], suffixes: tuple[str, ...]
) -> Iterator[SourceTable]:
    """Yield a table for each product that files are of; every file is planned before any is read.

    Raises BuildError for a file of no product, and for one whose columns are no fields.
    """
    planner, files = Planner(spec), []
    for member in members(spec.path, spec.base, suffixes):
        syntax = syntax_of(member)
        header = _header(syntax, member)
        product = best(header, products, spec.schema)
        if product is None:
            names = ", ".join(dict.fromkeys(product.name for product in products))
            problem = f"no product of {spec.format} has the columns {header.text}"
            raise BuildError(member.label, problem, line=header.line, remedy=f"known are {names}")
        reading = planner.plan(header, product)
        if product.refusal or not reading.values:
            reason = product.refusal or "no field of a dataset holds its values"
            problem, hint = f"{product.name}: {reason}", declaration_hint(reading.layout.offered)
            remedy = f"leave the file out{hint}"
            raise BuildError(member.label, problem, line=header.line, remedy=remedy)
        files.append((product.name, (syntax, member, reading)))
    planner.check()
    yield from tables(spec, [product.name for product in products], files)


def declaration_hint(names: Iterable[str]) -> str:
    """Return, as the end of a remedy, the own columns that a recipe can declare; "" if none."""
    first = [*dict.fromkeys(names)]
    more = ", …" if len(first) > _SHOWN else ""
    return f", or declare {', '.join(first[:_SHOWN])}{more} in [columns]" if first else ""


#: The module that reads a file's syntax, the file, and how it is read.
PlannedFile = tuple[ModuleType, Member, Reading]


def tables(
    spec: SourceSpec,
    order: Sequence[str],
    files: Sequence[tuple[str, PlannedFile]],
    notes: Sequence[str] = (),
    emptied: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
) -> Iterator[SourceTable]:
    """Yield a table for each name in ``order`` that has files; the first carries the notes.

    ``files`` are table names and files. Of one table, the files keep their order. ``emptied`` are
    the counts of each table, complete once it is read.
    """
    present = [name for name in dict.fromkeys(order) if any(name == table for table, _ in files)]
    for name in present:
        title = spec.name if len(present) == 1 else f"{spec.name} ({name})"
        batches = chain.from_iterable(file_batches(*file) for table, file in files if table == name)
        note = "; ".join(notes) if name == present[0] else ""
        yield SourceTable(title, batches, note, emptied.get(name, {}))


def file_batches(syntax: ModuleType, member: Member, reading: Reading) -> Iterator[Batch]:
    """Yield the rows of a file; JSON records with other keys than the first are planned anew."""
    if syntax is jsonlines:
        return jsonlines.batches(member, reading)
    return syntax.batches(member, reading.layout, reading.meaning)  # type: ignore[no-any-return]


def detect_product(opening: Opening, format_: str, products: Sequence[Product]) -> Detection | None:
    """Return the detection of the product that knows most columns of a file; None if none fits."""
    syntax = syntax_of(opening.member)
    header = _header(syntax, opening.start if syntax is delimited else opening.member)
    product = best(header, products, opening.spec.schema)
    return Planner(opening.spec).detection(header, product, format_) if product else None
