"""The dataset format: the names of files, the columns of each, and its version.

The compiler, the runtime and ``verify`` share it; ``docs/reference/format.md`` describes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from geolookup.contract import fields
from geolookup.contract.schema import CONTRACT, Schema

FORMAT = "geolookup-dataset"
FORMAT_VERSION = 3
MANIFEST = "manifest.json"

IPV4 = "ipv4.arrow"
IPV4_JUMP = "ipv4_jump.arrow"
IPV6 = "ipv6.arrow"
IPV6_SPARSE_INDEX = "ipv6_fence.arrow"
LOCATION = "location.arrow"
NETWORK = "network.arrow"
COUNTRY = "country.arrow"
ZONE = "zone.arrow"
OWN = "own.arrow"
#: The file of each table that holds fields.
TABLES = {
    fields.COUNTRY: COUNTRY,
    fields.LOCATION: LOCATION,
    fields.ZONE: ZONE,
    fields.NETWORK: NETWORK,
    fields.OWN: OWN,
}
#: The intervals by family.
INTERVALS = {4: IPV4, 6: IPV6}
#: The tables that intervals refer to; only a dataset with own columns has the last.
ROW_TABLES = (fields.LOCATION, fields.NETWORK, fields.OWN)
#: Which source decided each layer, by family; no lookup reads these.
PROVENANCE = {4: "ipv4_provenance.arrow", 6: "ipv6_provenance.arrow"}
ANSWERING = (IPV4, IPV4_JUMP, IPV6, IPV6_SPARSE_INDEX, LOCATION, NETWORK, COUNTRY, ZONE)
#: The files that every dataset has; ``files`` has all of one.
FILES = (*ANSWERING, *PROVENANCE.values())

#: The sparse index of IPv6 has the start of every so many intervals.
SPARSE_STRIDE = 64
#: The least and most leading bits that a jump table has.
JUMP_BITS = (8, 20)


def jump_bits(entries: int) -> int | None:
    """Return the leading bits of a jump table by its number of entries; None if there are none."""
    # 2^bits + 1 entries: one for each bucket, and the last interval.
    bits = (entries - 1).bit_length() - 1
    least, most = JUMP_BITS
    return bits if least <= bits <= most and entries == (1 << bits) + 1 else None


#: The types of integers that number the values of a dictionary column: the narrowest that does.
INDICES = ("int8", "int16", "int32")


class Column:
    """The type of a column in Arrow's words, ``dictionary<T>`` for any width of indices."""

    __slots__ = ("nullable", "optional", "type")

    def __init__(self, type: str, *, nullable: bool = False, optional: bool = False) -> None:  # noqa: A002
        self.type, self.nullable, self.optional = type, nullable, optional

    def has(self, stored: str) -> bool:
        """Return whether a column that is stored as this type is one."""
        if not self.type.startswith("dictionary<"):
            return stored == self.type
        values = self.type.removeprefix("dictionary<").removesuffix(">")
        return stored in (dictionary_type(values, index) for index in INDICES)


def dictionary_type(values: str, indices: str) -> str:
    """Return Arrow's words for a dictionary column of these values and indices."""
    return f"dictionary<values={values}, indices={indices}, ordered=0>"


def _fields(table: str, schema: Schema = CONTRACT) -> dict[str, Column]:
    """Return the columns of a table's fields; texts that repeat are dictionaries."""
    distinct = table in (fields.LOCATION, fields.NETWORK, fields.OWN)
    return {
        field.column: Column(
            f"dictionary<{fields.TEXT}>" if distinct and field.type == fields.TEXT else field.type,
            nullable=field.nullable,
        )
        for field in schema.in_table(table)
    }


_NUMBER = Column("uint32")
#: What the manifest has of each file.
ENTRY = frozenset(("bytes", "sha256", "rows", "columns"))
#: The column with the texts of rows, for single lookups.
JSON = {"json": Column("string")}
_STARTS = {
    4: {"start": _NUMBER},
    6: {"start_high": Column("uint64"), "start_low": Column("dictionary<uint64>")},
}
#: The columns that lead from a location to its rows in other tables.
LINKS = (fields.COUNTRY, fields.ZONE)


def row_tables(of: Iterable[fields.Field]) -> tuple[str, ...]:
    """Return the tables that intervals refer to; OWN only if it stores one of the fields."""
    has_own = any(field.table == fields.OWN for field in of)
    return ROW_TABLES if has_own else ROW_TABLES[:-1]


def files(schema: Schema) -> tuple[str, ...]:
    """Return the names of the files of a dataset."""
    own = (OWN,) if schema.own else ()
    return (*FILES, *own)


def columns(name: str, schema: Schema) -> Mapping[str, Column]:
    """Return the columns of a file of a dataset, in their order."""
    return (COLUMNS if schema is CONTRACT else _columns(schema))[name]


def _columns(schema: Schema) -> dict[str, Mapping[str, Column]]:
    rows = dict.fromkeys(row_tables(schema.own), _NUMBER)
    return {
        IPV4: {**_STARTS[4], **rows},
        IPV4_JUMP: {"interval": _NUMBER},
        IPV6: {**_STARTS[6], **rows},
        IPV6_SPARSE_INDEX: {"start_high": Column("uint64")},
        LOCATION: {
            **{link: Column("uint16") for link in LINKS},
            **_fields(fields.LOCATION),
            **JSON,
        },
        NETWORK: {**_fields(fields.NETWORK), **JSON},
        COUNTRY: {**_fields(fields.COUNTRY), **JSON},
        ZONE: _fields(fields.ZONE),
        **({OWN: {**_fields(fields.OWN, schema), **JSON}} if schema.own else {}),
        **{
            PROVENANCE[family]: {
                **_STARTS[family],
                **{layer: Column("uint8", optional=True) for layer in schema.layers},
            }
            for family in (4, 6)
        },
    }


#: The columns of each file without own columns; ``docs/reference/format.md`` describes them.
COLUMNS: Mapping[str, Mapping[str, Column]] = _columns(CONTRACT)
