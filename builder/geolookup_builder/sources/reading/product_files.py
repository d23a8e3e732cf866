"""Files with a header that are products of a vendor: CSV, JSON lines or Parquet.

A file is identified by its columns, never by its name: teams rename the files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType

from geolookup.errors import BuildError
from geolookup.filesystem.signatures import PARQUET
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading import delimited, jsonlines, parquet
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.plans import COMMAS, Planner
from geolookup_builder.sources.reading.products import Header, Product, best, typed_header
from geolookup_builder.sources.reading.reader import SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, begins_json, kind_of

_SHOWN = 5  # columns, in messages


def syntax_of(member: Member) -> ModuleType:
    """Return the module that reads the syntax of a file."""
    if kind_of(member) is PARQUET:
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
        files.append((product.name, syntax.batches(member, reading)))
    planner.check()
    yield from planner.tables(files, [product.name for product in products])


def declaration_hint(names: Iterable[str]) -> str:
    """Return, as the end of a remedy, the own columns that a recipe can declare; "" if none."""
    first = [*dict.fromkeys(names)]
    more = ", …" if len(first) > _SHOWN else ""
    return f", or declare {', '.join(first[:_SHOWN])}{more} in [columns]" if first else ""


def detect_product(opening: Opening, format_: str, products: Sequence[Product]) -> Detection | None:
    """Return the detection of the product that knows most columns of a file; None if none fits."""
    syntax = syntax_of(opening.member)
    header = _header(syntax, opening.start if syntax is delimited else opening.member)
    product = best(header, products, opening.spec.schema)
    return Planner(opening.spec).detection(header, product, format_) if product else None
