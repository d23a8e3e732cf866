"""Own columns from the files of a vendor: those that the recipe declares, or a source maps.

A format has ``Offers``: where its files have each of ``vendor_columns``. ``OwnRequest`` selects
what the recipe asks for, and extends how a file is read by it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.fields import OWN_PREFIX
from geolookup.contract.schema import column_members
from geolookup.errors import BuildError, near_match
from geolookup_builder.ranges import ParsedRanges
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.recipe.field_names import source_column
from geolookup_builder.sources.reading.dictionary_columns import constant, mark, translate
from geolookup_builder.sources.reading.reader import Meaning
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.vendor_columns import LANGUAGE, offered_column, with_language

_COLUMNS = "columns"
_EXAMPLE = 'write columns = { my_flag = "is_vpn" }'
_SHOWN = 5  # columns, in messages
_TRUE, _FALSE = "true", "false"


def _unchanged(cells: pa.Array) -> pa.Array:
    return cells


@dataclass(frozen=True, slots=True)
class Offer:
    """Where files have a column: in the first of ``columns`` that a file has.

    ``read`` makes values of its cells, ``blank`` is the value of an empty one. Without columns all
    rows have the value ``constant``.
    """

    columns: tuple[str, ...] = ()
    read: Callable[[pa.Array], pa.Array] = _unchanged
    blank: str = ""
    constant: str = ""

    def of_language(self, language: str) -> Offer:
        """Return the offer of a language: ``city.names.LANG`` becomes ``city.names.de``."""
        columns = tuple(column.replace(LANGUAGE, language) for column in self.columns)
        return replace(self, columns=columns)

    def is_in(self, names: Collection[str]) -> bool:
        """Return whether a file with these columns has it, or its rows have a constant."""
        return not self.columns or not set(names).isdisjoint(self.columns)

    def in_file(self, names: Collection[str]) -> Offer:
        """Return the offer with the one column of a file that it is read from."""
        return replace(self, columns=tuple(name for name in self.columns if name in names)[:1])


#: By the name of an offered column.
Offers = Mapping[str, Offer]
NO_OFFERS: Offers = MappingProxyType({})
#: A constant that says that all rows of a file are so.
ALWAYS = Offer(constant=_TRUE)


def stated(*columns: str) -> Offer:
    """Return the offer of a column that is read as the file states it."""
    return Offer(columns)


def flag(*columns: str) -> Offer:
    """Return the offer of a flag that files leave blank, or out, if it is false."""
    return Offer(columns, blank=_FALSE)


def words(column: str, values: Mapping[str, str | None]) -> Offer:
    """Return the offer of a column some of whose cells stand for values; None: unknown."""
    return Offer((column,), lambda cells: translate(cells, values))


def offered(offers: Offers, names: Collection[str]) -> Iterator[str]:
    """Yield the offered columns that a file with these columns has."""
    for name, offer in offers.items():
        patterns = [re.escape(column).replace(LANGUAGE, "[^.]+") for column in offer.columns]
        if offer.is_in(names) or any(
            re.fullmatch(pattern, column)
            for pattern in patterns
            if LANGUAGE in name
            for column in names
        ):
            yield name


def declaration_hint(names: Iterable[str]) -> str:
    """Return, as the end of a remedy, the own columns that a recipe can declare; "" if none."""
    first = [*dict.fromkeys(names)]
    more = ", …" if len(first) > _SHOWN else ""
    return f", or declare {', '.join(first[:_SHOWN])}{more} in [columns]" if first else ""


@dataclass(slots=True)
class OwnRequest:
    """The own columns that a source is asked for, and what each means.

    ``wanted`` has, by ``own.NAME``, an offered name; of those in ``mapped`` also the name of a
    column in files. ``delivered`` are those that a file has.
    """

    spec: SourceSpec
    wanted: dict[str, str]
    mapped: dict[str, str]
    delivered: set[str] = field(default_factory=set)
    known: set[str] = field(default_factory=set)  # the names that files offered

    def choose(
        self,
        offers: Offers,
        names: Collection[str],
        others: Collection[str] = (),
        *,
        is_sample: bool = False,
    ) -> dict[str, Offer]:
        """Return the offers of the own columns that a file with the columns ``names`` has.

        ``others`` are the columns that a source may map though no offer has them. If ``names`` are
        of a sample, the file may have the other offered columns too. Raises BuildError for an own
        column with another type than its offered one.
        """
        own_offers = {}
        if self.mapped:
            self.known |= {*offered(offers, names), *others}
        for column, name in self.wanted.items():
            offer = _offer(offers, name)
            if offer is not None and offer.is_in(names):
                if column not in self.mapped or name not in names:  # not a column of the file
                    self._check_type(column, name)
                own_offers[column] = offer
            elif offer is not None and is_sample and self._type_error(column, name) is None:
                own_offers[column] = offer
            elif column in self.mapped and name in others:
                own_offers[column] = stated(name)
        self.delivered |= own_offers.keys()
        return own_offers

    def extend(self, layout: Layout, meaning: Meaning, offers: Offers) -> tuple[Layout, Meaning]:
        """Return how a file is read with its own columns too; unchanged if it has none."""
        names = frozenset(layout.names)
        headed = names - layout.texts if layout.header else ()
        own_offers = {
            column: offer.in_file(names)
            for column, offer in self.choose(offers, names, headed).items()
        }
        cells = {column for offer in own_offers.values() for column in offer.columns}
        fields = layout.fields | (cells - layout.texts)
        layout = replace(layout, fields=fields, offered=tuple(offered(offers, names)))
        return layout, _with_own(meaning, own_offers)

    def check(self) -> None:
        """Raise BuildError if no file has a column that the source maps."""
        for column, name in self.mapped.items():
            if column not in self.delivered:
                problem = f"source.columns: no file of {self.spec.path} has {name!r}"
                remedy = near_match(name, sorted(self.known))
                raise BuildError(self.spec.recipe, problem, remedy=remedy)

    def _check_type(self, column: str, name: str) -> None:
        if error := self._type_error(column, name):
            raise error

    def _type_error(self, column: str, name: str) -> BuildError | None:
        """Return the error of an own column that has another type than its offered one."""
        field, vendor_column = self.spec.schema.by_source_column[column], offered_column(name)
        kind = column_members(field)["type"]
        if vendor_column is None or kind == vendor_column.type:
            return None
        problem = f"columns.{field.member} is {kind}, but {name} is {vendor_column.type}"
        remedy = f'write {field.member} = "{vendor_column.type}" in [columns]'
        return BuildError(self.spec.recipe, problem, remedy=remedy)


def own_request(spec: SourceSpec, *, with_fields: bool = False) -> OwnRequest:
    """Return what a recipe asks a source for; ``with_fields``: ``columns`` may name others too.

    Raises BuildError for ``columns`` that are malformed.
    """
    mapped = {
        column: name
        for column, name in _mapped(spec).items()
        if column.startswith(OWN_PREFIX) or not with_fields
    }
    for column in mapped:
        if not column.startswith(OWN_PREFIX):
            problem = f"source.columns: {spec.format} finds {column} itself"
            raise BuildError(spec.recipe, problem, remedy="map own columns only")
    declared = {
        field.source_column: field.member
        for field in spec.schema.own
        if offered_column(field.member) is not None
    }
    wanted = {name: text for name, text in {**declared, **mapped}.items() if name in spec.fields}
    return OwnRequest(spec, wanted, {name: mapped[name] for name in mapped if name in wanted})


def _mapped(spec: SourceSpec) -> dict[str, str]:
    """Return the names that ``columns`` maps, by the columns of a source."""
    columns = spec.options.get(_COLUMNS)
    if columns is None or isinstance(columns, list):  # a list names the columns of files
        return {}
    if not isinstance(columns, dict) or not columns:
        raise BuildError(spec.recipe, "source.columns is not a table of names", remedy=_EXAMPLE)
    for name, text in columns.items():
        if not isinstance(text, str) or not text:
            problem = f"source.columns.{name} is not a name"
            raise BuildError(spec.recipe, problem, remedy=_EXAMPLE)
    return {
        source_column(spec.recipe, "source.columns", name, spec.schema): text
        for name, text in columns.items()
    }


def _offer(offers: Offers, name: str) -> Offer | None:
    stem, language = with_language(name)
    offer = offers.get(stem)
    return offer.of_language(language) if offer and language else offer


def _with_own(meaning: Meaning, own_offers: Mapping[str, Offer]) -> Meaning:
    """Return a meaning that delivers own columns too."""
    if not own_offers:
        return meaning

    def meaning_with_own(
        rows: pa.RecordBatch,
    ) -> tuple[ParsedRanges, Mapping[str, pa.DictionaryArray]]:
        ranges, fields = meaning(rows)
        return ranges, {**fields, **own_fields(rows, own_offers)}

    return meaning_with_own


def own_fields(
    rows: pa.RecordBatch, own_offers: Mapping[str, Offer]
) -> dict[str, pa.DictionaryArray]:
    """Return the own columns of rows."""
    return {
        column: _cells(rows.column(offer.columns[0]), offer)
        if offer.columns
        else constant(offer.constant, len(rows))
        for column, offer in own_offers.items()
    }


def _cells(cells: pa.Array, offer: Offer) -> pa.DictionaryArray:
    values = offer.read(cells)
    if not offer.blank:
        return values
    is_blank = pc.fill_null(pc.equal(values.dictionary.cast(pa.string()), ""), True)
    return mark(values, pc.fill_null(is_blank.take(values.indices), True), offer.blank)
