"""The columns of each file and their types; ``docs/format.md`` says what they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from geolookup.dataset import layout as fmt

#: Arrow's words for a dictionary column, by the width of its indices.
_DICTIONARY = r"dictionary<values={}, indices=(int8|int16|int32), ordered=0>"


@dataclass(frozen=True, slots=True)
class Column:
    """The type of a column in Arrow's words, ``dictionary<T>`` for any width of indices."""

    type: str
    nullable: bool = False
    optional: bool = False

    def has(self, stored: str) -> bool:
        """Say whether a column that is stored as this type is one."""
        values = re.fullmatch(r"dictionary<(\w+)>", self.type)
        wanted = _DICTIONARY.format(values[1]) if values else re.escape(self.type)
        return re.fullmatch(wanted, stored) is not None


Columns = Mapping[str, Column]


def _named(kind: str, *names: str) -> dict[str, Column]:
    return {name: Column(kind, nullable=True) for name in names}


_NUMBER = Column("uint32")
_JSON = {"json": Column("string"), "json_crc32": _NUMBER}
_STARTS: dict[int, dict[str, Column]] = {
    4: {"start": _NUMBER},
    6: {"start_high": Column("uint64"), "start_low": Column("dictionary<uint64>")},
}
_ROWS = {"location": _NUMBER, "network": _NUMBER}
_LAYERS = {layer: Column("uint8", optional=True) for layer in fmt.LAYERS}
_LISTS = ("country_languages", "country_neighbors")
_COUNTRY = {
    **_named("string", *fmt.COUNTRY_MEMBERS),
    **_named("list<item: string>", *_LISTS),
    **_named("double", "country_area_km2"),
    **_named("int64", "country_population"),
    **_named("bool", "country_is_eu"),
    **_named("string", *(f"currency_{name}" for name in fmt.CURRENCY_MEMBERS)),
}
_ENDS = ("first_high", "first_low", "last_high", "last_low")

COLUMNS: Mapping[str, Columns] = {
    fmt.IPV4: {**_STARTS[4], **_ROWS},
    fmt.IPV4_JUMP: {"interval": _NUMBER},
    fmt.IPV6: {**_STARTS[6], **_ROWS},
    fmt.IPV6_FENCE: {"start_high": Column("uint64")},
    fmt.LOCATION: {
        "country": Column("uint16"),
        "zone": Column("uint16"),
        **_named("dictionary<string>", *fmt.PLACE_MEMBERS),
        **_named("double", "latitude", "longitude"),
        **_JSON,
    },
    fmt.NETWORK: {
        **_named("uint32", "asn"),
        **_named("dictionary<string>", *fmt.NETWORK_MEMBERS[1:]),
        **_JSON,
    },
    fmt.COUNTRY: {**_COUNTRY, **_JSON},
    fmt.ZONE: _named("string", "zone"),
    **{fmt.PROVENANCE[family]: {**_STARTS[family], **_LAYERS} for family in (4, 6)},
    **{
        fmt.EXPLAINED[family]: {"table": Column("uint16"), **_STARTS[family], "row": _NUMBER}
        for family in (4, 6)
    },
    fmt.EXPLAINED_ROWS: {
        "file": _NUMBER,
        **_named("uint32", "line"),
        "family": Column("uint8"),
        **{name: Column("uint64") for name in _ENDS},
        **dict.fromkeys(fmt.LAYERS, _NUMBER),
    },
    fmt.EXPLAINED_FILES: {"source": Column("uint8"), **_named("string", "file")},
    fmt.EXPLAINED_VALUES: _JSON,
}
