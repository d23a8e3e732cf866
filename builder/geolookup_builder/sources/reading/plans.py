"""How the columns of a file are read: by its product, by the recipe, and else by their names.

A ``Planner`` is made for each source and asked for each of its files. In order of precedence a
field is read from the column that ``columns`` of the recipe names, from the offers of the product,
or from a column with a name of the field that the product does not know. A declared own column is
read under its name in any file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import OWN_PREFIX, REAL, TEXT, TEXTS
from geolookup.contract.schema import column_members
from geolookup.errors import BuildError, near_match
from geolookup_builder.ranges import ParsedRanges, from_networks, from_pairs
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.names import RANGE_NAMES, RANGES, mapped_columns, offered_type
from geolookup_builder.sources.reading import dictionary_columns
from geolookup_builder.sources.reading.products import (
    Fields,
    Header,
    Offer,
    Product,
    names_of_fields,
)
from geolookup_builder.sources.reading.reader import Batch, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, NearMissError
from geolookup_builder.sources.reading.text import Layout

COMMAS = Layout((), frozenset(), frozenset())
_HALVES = ("latitude", "longitude")


def parse_range(first: pa.Array, *last: pa.Array, family: int | None = None) -> ParsedRanges:
    """Parse networks, or two inclusive ends."""
    return from_pairs(first, last[0], family) if last else from_networks(first)


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file is read: its layout, and the meaning of the columns of a batch.

    ``prepare`` adds columns to the rows that the file's own columns lead to.
    """

    product: Product
    layout: Layout
    ranges: tuple[str, ...]
    values: Mapping[str, tuple[Offer, ...]]  # each with the column that it is read from
    parse: Callable[..., ParsedRanges]
    replan: Callable[[Header], Reading]  # of records with other columns
    prepare: Callable[[pa.RecordBatch], pa.RecordBatch] = lambda rows: rows

    def meaning(self, rows: pa.RecordBatch) -> tuple[ParsedRanges, Fields]:
        """Return the range of each row, and its fields."""
        rows = self.prepare(rows)
        return self.parse(*(rows.column(name) for name in self.ranges)), self.fields(rows)

    def fields(self, rows: pa.RecordBatch) -> Fields:
        """Return the fields of rows, without their ranges."""
        fields = {}
        for column, offers in self.values.items():
            cells = [_cells(rows, offer) for offer in offers]
            fields[column] = dictionary_columns.first_known(*cells) if len(cells) > 1 else cells[0]
        return self.product.finish(rows, fields) if self.product.finish else fields

    @property
    def is_same(self) -> object:
        """Equal for two readings of a file that give the same values."""
        return self.ranges, self.parse, self.product.finish, dict(self.values)


def _cells(rows: pa.RecordBatch, offer: Offer) -> pa.DictionaryArray:
    if not offer.columns:
        return dictionary_columns.constant(offer.constant, len(rows))
    values = offer.read(rows.column(offer.columns[0]))
    if not offer.blank:
        return values
    is_blank = pc.fill_null(pc.equal(values.dictionary.cast(pa.string()), ""), True)
    return dictionary_columns.mark(
        values, pc.fill_null(is_blank.take(values.indices), True), offer.blank
    )


class Planner:
    """Plans the files of one source. Raises BuildError for a malformed ``columns``."""

    def __init__(self, spec: SourceSpec) -> None:
        self.spec = spec
        self.mapping, self.cells = mapped_columns(spec), dictionary_columns.Cells(spec)
        self.names, self._fields = names_of_fields(spec.schema), spec.schema.by_source_column
        self._delivered: set[str] = set()
        self._known: set[str] = set()

    def plan(self, header: Header, product: Product, layout: Layout = COMMAS) -> Reading:
        """Return how a file is read; ``layout`` has its punctuation.

        Raises BuildError for a file without a range, and with half a coordinate.
        """
        ranges, parse = self._ranges(header, product)
        values = self._values(header, product, ranges)
        self._check_halves(header, values, product)
        helpers = [name for name in product.helpers if name in header]
        layout = replace(
            layout,
            names=header.names,
            texts=frozenset(ranges),
            fields=_columns(values.values()).union(helpers).difference(ranges),
            lists=_columns(v for name, v in values.items() if self._fields[name].type == TEXTS),
            offered=tuple(product.offered(header)),
        )
        replan = partial(self.plan, product=product, layout=layout)
        return Reading(product, layout, ranges, values, parse, replan)

    def detection(self, header: Header, product: Product, format_: str) -> Detection:
        """Return the detection of a product by the whole header of a file.

        Raises NearMissError if the product does not know a column that is a field of ours or a
        declared one: the file may be of another product.
        """
        others = [name for name in header.names if not product.knows(name)]
        score, mapped = len(header.names) - len(others), self.mapping.values()
        if foreign := [name for name in others if name in self.names and name not in mapped]:
            problem = f"{format_} ({product.name}) has no column {', '.join(map(repr, foreign))}"
            remedy = f'if the file is of {format_}, write format = "{format_}" in a recipe'
            raise NearMissError(header.label, problem, line=header.line, remedy=remedy, score=score)
        meaning = self.plan(header, product).is_same
        return Detection(product.name, score=score, unknown=tuple(others), meaning=meaning)

    def check(self) -> None:
        """Raise BuildError if no planned file has a column that the source maps."""
        for column, name in self.mapping.items():
            if column not in self._delivered:
                problem = f"source.columns: no file of {self.spec.path} has {name!r}"
                remedy = near_match(name, sorted(self._known))
                raise BuildError(self.spec.recipe, problem, remedy=remedy)

    def tables(
        self,
        files: Sequence[tuple[str, Iterator[Batch]]],
        order: Iterable[str] = ("",),
        notes: Iterable[str] = (),
    ) -> Iterator[SourceTable]:
        """Yield a table for each name in ``order`` that has files; the first carries the notes.

        ``files`` are the batches of each file, after the name of its table.
        """
        present = {name for name, _ in files}
        for name in dict.fromkeys(name for name in order if name in present):
            title = self.spec.name if len(present) == 1 else f"{self.spec.name} ({name})"
            batches = chain.from_iterable(rows for table, rows in files if table == name)
            yield SourceTable(title, batches, "; ".join(notes), self.cells.emptied)
            notes = ()

    def _ranges(
        self, header: Header, product: Product
    ) -> tuple[tuple[str, ...], Callable[..., ParsedRanges]]:
        """Return the columns of the range: those that the recipe maps, else of the product."""
        mapped = {name: self.mapping[name] for name in RANGE_NAMES if name in self.mapping}
        ends = {name: mapped.get(name, name) for name in RANGE_NAMES}
        for names in RANGES if any(name in header for name in mapped.values()) else ():
            columns = tuple(ends[name] for name in names)
            if mapped.keys() <= {*names} and all(column in header for column in columns):
                self._delivered |= mapped.keys()
                parse = product.parse if product.ranges == RANGES else None
                return columns, self._parse(names, parse)
        stated = product.range_in(header)
        if stated is None or mapped:
            problem = f"no range among the columns {header.text}"
            remedy = "map one column as network, or two as first and last"
            raise BuildError(header.label, problem, line=header.line, remedy=remedy)
        return stated, self._parse(stated, product.parse)

    def _parse(
        self, names: Sequence[str], parse: Callable[..., ParsedRanges] | None
    ) -> Callable[..., ParsedRanges]:
        if "netmask" in names:
            return lambda *ends: from_networks(dictionary_columns.masked_networks(*ends))
        if len(names) == 1 and self.cells.has_netmasks:
            return lambda networks: from_networks(self.cells.network(networks))
        return parse or parse_range

    def _values(
        self, header: Header, product: Product, ranges: Sequence[str]
    ) -> dict[str, tuple[Offer, ...]]:
        used = {*ranges, *self.mapping.values()}
        for column, name in self.mapping.items():
            if name in ranges and column not in RANGE_NAMES:
                problem = f"column {name!r} is the range and something else in columns"
                raise BuildError(self.spec.recipe, problem, remedy="keep one of them")
        by_name = dict[str, list[str]]()
        for name in header.names:
            if name in self.names and name not in used:
                by_name.setdefault(self.names[name], []).append(name)
        values = {}
        for column in self._fields:
            offers = self._offers(header, product, column)
            is_own = column.startswith(OWN_PREFIX)
            names = by_name.get(column, [])
            # Records of a sample may have an own column by any of its names.
            for name in () if offers else names if is_own and header.is_sample else names[-1:]:
                # ``domain`` of a product may be that of the AS, not what a recipe can declare.
                if not product.knows(name) or (is_own and offered_type(name) is None):
                    offers.append(Offer((name,)))
            if offers and (not is_own or column in self.spec.fields):
                values[column] = tuple(self._in_cells(one, column, header) for one in offers)
        self._delivered |= values.keys()
        self._known |= {*header.names, *product.offered(header)}
        return values

    def _offers(self, header: Header, product: Product, column: str) -> list[Offer]:
        """Return the offers of a column in a file: of the recipe, or else of the product."""
        own = column.removeprefix(OWN_PREFIX) if column.startswith(OWN_PREFIX) else ""
        name = self.mapping.get(column, own or column)
        is_mapped = column in self.mapping and name in header
        offers = product.offers(name) if column not in self.mapping or offered_type(name) else ()
        in_file = [offer for one in offers if (offer := one.in_file(header))]
        if own and offers and (error := self._type_error(column, name)):
            if in_file and not is_mapped:
                raise error
        elif header.is_sample and own and offers and not in_file:
            in_file = [replace(offers[0], columns=offers[0].columns[:1])]
        return in_file or ([Offer((name,))] if is_mapped else [])

    def _type_error(self, column: str, name: str) -> BuildError | None:
        """Return the error of an own column that has another type than its offered one."""
        field, offered = self._fields[column], offered_type(name)
        kind = column_members(field)["type"]
        if offered is None or kind == offered:
            return None
        problem = f"columns.{field.member} is {kind}, but {name} is {offered}"
        remedy = f'write {field.member} = "{offered}" in [columns]'
        return BuildError(self.spec.recipe, problem, remedy=remedy)

    def _in_cells(self, offer: Offer, column: str, header: Header) -> Offer:
        """Return an offer that reads cells as the recipe says that they are written."""
        if self._fields[column].type == TEXT:
            offer = offer.of_texts(header)
        if dictionary_columns.OPTION not in self.spec.options or not offer.columns:
            return offer
        kind = header.type_of(offer.columns[0])
        is_text = kind is None or not (pa.types.is_floating(kind) or pa.types.is_integer(kind))
        is_real = is_text and self._fields[column].type == REAL
        return replace(offer, read=lambda c: offer.read(self.cells.read(c, is_real=is_real)))

    def _check_halves(self, header: Header, values: Mapping[str, object], product: Product) -> None:
        halves = [name for name in _HALVES if name in values]
        if len(halves) == 1 and {*_HALVES} <= self.spec.fields:
            other = next(name for name in _HALVES if name not in values)
            problem = f"{halves[0]} without {other}"
            remedy = f'map its column in a recipe, columns = {{ {other} = "…" }}, or leave out both'
            score = product.score(header.names)
            raise NearMissError(header.label, problem, line=header.line, remedy=remedy, score=score)


def _columns(values: Iterable[Sequence[Offer]]) -> frozenset[str]:
    """Return the columns of files that values are read from."""
    return frozenset(name for offers in values for offer in offers for name in offer.columns)
