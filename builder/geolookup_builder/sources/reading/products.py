"""What the columns of a file mean: products of vendors, and our own generic columns.

A ``Product`` states, for each source column of a dataset (``country_code``) and each offered own
column (``is_vpn``), where its values are: a sequence of ``Offer``. The same holds for CSV with and
without a header, JSON lines, Parquet, tables in memory, and MMDB. Without a header, the names are
those of the layout. Of MMDB, the columns are paths (``city.names.en``), and ``ranges`` are
``NO_RANGE``. ``best`` selects the product of a file. CONTRIBUTING.md has an example.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import BY_SOURCE_COLUMN, NAMES
from geolookup.contract.schema import Schema
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.recipe.names import LANGUAGE, offered_type, with_language
from geolookup_builder.sources.reading.dictionary_columns import translate, with_values
from geolookup_builder.sources.reading.typed_columns import flat

Fields: TypeAlias = Mapping[str, pa.DictionaryArray]
#: The ``ranges`` of files whose ranges are in no column.
NO_RANGE: tuple[tuple[str, ...], ...] = ((),)
_SHOWN = 80  # characters of a header, in messages
#: The source column of each name of a field: its own, path, short name, and name in tables.
FIELD_OF = {
    **{name: column for column, field in BY_SOURCE_COLUMN.items() for name in (column, field.name)},
    **{
        name: field.source_column
        for field in BY_SOURCE_COLUMN.values()
        for name, path in NAMES.items()
        if path == field.path
    },
}


def _unchanged(cells: pa.DictionaryArray) -> pa.DictionaryArray:
    return cells


def _exact(cells: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return texts of floats; those beyond exact integers become invalid, by a control character.

    JSON has 123456789012345678 for an account, and a float 1.2345678901234568e+17.
    """
    texts = cells.dictionary.cast(pa.string())
    return with_values(cells, pc.replace_substring_regex(texts, r"(e\+[0-9]+)$", "\\1\0"))


@dataclass(frozen=True, slots=True)
class Offer:
    """Where a value comes from: the first of ``columns`` that a file has.

    ``read`` makes values of its cells; ``blank`` is the value of an empty one. Without columns all
    rows have the value ``constant``.
    """

    columns: tuple[str, ...] = ()
    read: Callable[[pa.DictionaryArray], pa.DictionaryArray] = _unchanged
    blank: str = ""
    constant: str = ""

    def of_language(self, language: str) -> Offer:
        """Return the offer of a language: ``city.names.LANG`` becomes ``city.names.de``."""
        columns = tuple(column.replace(LANGUAGE, language) for column in self.columns)
        return replace(self, columns=columns)

    def of_texts(self, header: Header) -> Offer:
        """Return the offer of a text field, which a typed file may state as a float."""
        kind = header.type_of(self.columns[0]) if self.columns else None
        is_float = kind is not None and pa.types.is_floating(kind)
        return replace(self, read=_exact) if is_float and self.read is _unchanged else self

    def in_file(self, names: Container[str]) -> Offer | None:
        """Return the offer with the one column of a file that it is read from; None without."""
        if not self.columns:
            return self
        column = next((column for column in self.columns if column in names), None)
        return None if column is None else replace(self, columns=(column,))


Offers: TypeAlias = Offer | Sequence[Offer]


def stated(*columns: str) -> Offer:
    """Return the offer of a column that is read as the file states it."""
    return Offer(columns)


def flag(*columns: str) -> Offer:
    """Return the offer of a flag that files leave blank, or out, if it is false."""
    return Offer(columns, blank="false")


def words(column: str, values: Mapping[str, str | None]) -> Offer:
    """Return the offer of a column some of whose cells stand for values; None: unknown."""
    return Offer((column,), lambda cells: translate(cells, values))


@dataclass(frozen=True)
class Header:
    """The columns of a file: names of a header or a layout, or paths of typed columns.

    ``is_sample``: they are of some records; others may have further own columns.
    """

    label: str
    names: tuple[str, ...]
    schema: pa.Schema | None = None
    line: int | None = None
    is_sample: bool = False

    def __contains__(self, name: object) -> bool:
        return name in self._set

    def type_of(self, path: str) -> pa.DataType | None:
        """Return the type of a typed column; None for other columns."""
        return self.schema.field(path).type if self.schema is not None and path in self else None

    @cached_property
    def _set(self) -> frozenset[str]:
        return frozenset(self.names)

    @property
    def text(self) -> str:
        """The names for a message, shortened."""
        text = ",".join(self.names)
        return repr(text if len(text) < _SHOWN else text[:_SHOWN] + "…")


def typed_header(label: str, schema: pa.Schema) -> Header:
    """Return the columns of Parquet, JSON or a table by their paths."""
    columns = flat(schema)
    return Header(label, tuple(columns.names), columns)


@dataclass(frozen=True)
class Product:
    """One kind of file that a vendor delivers, or our own.

    ``ranges`` are alternatives of columns, read by ``parse``; the default is a network, or two
    inclusive ends. ``values`` has the offers by source column, and by name of an own column.
    ``unread`` are other columns that such files are known to have. A file must have all columns of
    one of ``marks``. ``finish`` makes the last change, to fields that depend on each other; it also
    gets the rows, with the columns ``helpers``. A product with a ``refusal`` has no fields, or
    wrong ones.
    """

    name: str
    ranges: tuple[tuple[str, ...], ...]
    values: Mapping[str, Offers]
    unread: tuple[str, ...] = ()
    marks: tuple[frozenset[str], ...] = ()
    helpers: tuple[str, ...] = ()
    parse: Callable[..., ParsedRanges] | None = None
    finish: Callable[[pa.RecordBatch, Fields], Fields] | None = None
    refusal: str = ""

    def offers(self, column: str) -> tuple[Offer, ...]:
        """Return the offers of a source column, or of an own one, such as ``city_name_de``."""
        stem, language = with_language(column)
        offers = self.values.get(stem, ())
        offers = (offers,) if isinstance(offers, Offer) else tuple(offers)
        return tuple(offer.of_language(language) for offer in offers) if language else offers

    def range_in(self, names: Container[str]) -> tuple[str, ...] | None:
        """Return the columns of the range that a file has; None if it has none."""
        return next((ends for ends in self.ranges if all(end in names for end in ends)), None)

    def knows(self, name: str) -> bool:
        """Return whether files of the product are known to have a column."""
        return name in self._known or _any_language(name) in self._known

    def fits(self, names: Container[str]) -> bool:
        """Return whether a file has a range and the marks of the product."""
        is_marked = not self.marks or any(all(n in names for n in m) for m in self.marks)
        return is_marked and self.range_in(names) is not None

    def score(self, names: Iterable[str]) -> int:
        """Return how many columns of a file the product knows."""
        return sum(map(self.knows, names))

    def foreign(self, names: Iterable[str], schema: Schema) -> list[str]:
        """Return the columns that are a field or a declared one, and that it does not know."""
        ours = names_of_fields(schema)
        return [name for name in names if name in ours and not self.knows(name)]

    def offered(self, header: Header) -> Iterator[str]:
        """Yield the own columns that a file has, by the names that a recipe can declare."""
        columns = {*header.names, *map(_any_language, header.names)}
        for name in filter(offered_type, self.values):
            offers = self.offers(name)
            if any(not one.columns or not columns.isdisjoint(one.columns) for one in offers):
                yield name

    @cached_property
    def _known(self) -> frozenset[str]:
        columns = (offer.columns for column in self.values for offer in self.offers(column))
        return frozenset().union(self.unread, self.helpers, *self.ranges, *columns)


def _any_language(column: str) -> str:
    """Return ``city.names.LANG`` for ``city.names.de``."""
    return f"{column.rpartition('.')[0]}.{LANGUAGE}"


def names_of_fields(schema: Schema) -> dict[str, str]:
    """Return the source column of each name that a file can have for a field, or an own column."""
    own = {
        name: field.source_column
        for field in schema.own
        for name in (field.member, field.path, field.name)
    }
    return {**FIELD_OF, **own}


def best(header: Header, products: Iterable[Product], schema: Schema) -> Product | None:
    """Return the product that knows most columns of a file; None if none fits.

    Of equals that which knows all columns of ours, then the first. A table of ASN with a ``city``
    of one's own also fits Core, which reads neither its names nor its ``country`` as they are
    meant; a column that a product does not know is read by its own name.
    """

    def rank(product: Product) -> tuple[int, bool]:
        return product.score(header.names), not product.foreign(header.names, schema)

    return max((p for p in products if p.fits(header)), key=rank, default=None)
