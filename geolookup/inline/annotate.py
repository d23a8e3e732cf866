"""Text with a tag after each of its addresses; without the tags it has the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from string import Formatter
from typing import TYPE_CHECKING, Any

import numpy as np

from geolookup.contract.fields import Field
from geolookup.contract.paths import resolve_field
from geolookup.contract.schema import Schema
from geolookup.dataset import layout as fmt
from geolookup.inline import Part, parts, rows_of, with_texts

if TYPE_CHECKING:
    from geolookup.kernel import State

#: The texts of an unknown value, of a tag without known values, and of a private address.
_UNKNOWN, _ALL_UNKNOWN, _PRIVATE = "-", "unknown", "private"
#: The most tags that are kept. With more, all are rendered again.
_MOST = 1 << 17
#: The row of a private address without an answer.
_PRIVATE_ROW = (1 << 32) - 1


def annotate_blocks(blocks: Iterable[bytes], tags: Tags) -> Iterator[bytes]:
    """Yield the bytes of a text with a tag after each address, a block at a time."""
    for part in parts(blocks):
        yield with_texts(part, part.ends, tags.of(part))


class Tags:
    """Renders the tags of one dataset, once for each combination of rows.

    ``form`` is a text with fields in braces, such as ``{country} AS{asn}``; ``{{`` and ``}}`` are
    braces. A field is one that a dataset stores: its value depends only on the network that the
    address is in. ``call`` is the call or option that has the form. ``value_text`` writes a value
    that is known, ``encode`` makes the bytes of a tag. Raises ValueError for any other field, and
    for a malformed form.
    """

    def __init__(
        self,
        state: State,
        form: str,
        call: str,
        value_text: Callable[[Any], str],
        encode: Callable[[str], bytes],
    ) -> None:
        self._state, self._value_text, self._encode = state, value_text, encode
        self._form, self._fields = _parse(form, call, state.dataset.schema)
        self._paths = tuple(field.path for field in self._fields)
        self._tables = fmt.row_tables(self._fields)
        self._private = encode(_PRIVATE if self._fields else self._form % ())
        self._private_key = np.array([_PRIVATE_ROW] * len(self._tables), np.uint32).tobytes()
        self._tags: dict[bytes, bytes] = {}

    def of(self, part: Part) -> list[bytes]:
        """Return the tag of each address of a part."""
        keys = self._keys(part)
        tags: list[Any] = list(map(self._tags.get, keys))
        if None in tags:
            if len(self._tags) > _MOST:
                self._tags.clear()
            places = enumerate(keys)
            self._render(part, {key: at for at, key in places if key not in self._tags})
            tags = list(map(self._tags.get, keys))
        return tags

    def _keys(self, part: Part) -> list[bytes]:
        """Return the rows of each address in the tables of the fields, as bytes."""
        rows, has_answer = rows_of(self._state, part, self._tables)
        numbers = np.stack([*rows.values()], axis=1)
        numbers[~has_answer] = _PRIVATE_ROW
        keys: list[bytes] = numbers.view(f"V{4 * numbers.shape[1]}").ravel().tolist()
        return keys

    def _render(self, part: Part, missing: dict[bytes, int]) -> None:
        """Render tags, each for rows and the position of an address that has them."""
        # Any address with the rows will do: its fields depend on these rows only.
        texts: list[object] = [
            str(part.data[part.starts[at] : part.ends[at]], "ascii") for at in missing.values()
        ]
        for key, values in zip(missing, self._state.values(texts, self._paths, 0), strict=True):
            self._tags[key] = self._encode(self._tag(values))
        self._tags[self._private_key] = self._private

    def _tag(self, values: tuple[Any, ...]) -> str:
        if values and values.count(None) == len(values):
            return _ALL_UNKNOWN
        write = self._value_text
        return self._form % tuple([_UNKNOWN if value is None else write(value) for value in values])


def _parse(form: str, call: str, schema: Schema) -> tuple[str, list[Field]]:
    """Return the form as the left side of the ``%`` operator, and its fields."""
    literals, fields = [], []
    try:
        pieces = list(Formatter().parse(form))
    except ValueError as error:  # a brace without its partner
        raise ValueError(f"{call}: {error}; {{{{ and }}}} are braces") from None
    for literal, name, spec, conversion in pieces:
        literals.append(literal.replace("%", "%%"))
        if name is not None:
            if spec or conversion:
                raise ValueError(f"{call}: {{{name}}} takes no format; write only the field")
            fields.append(resolve_field(name, schema.stored, call))
            literals.append("%s")
    return "".join(literals), fields
