"""Lines of web servers' logs in the Python kernel: a regular expression a line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from geolookup.dataset.intervals import I64, U8

_FIELDS = 10
# Every part ends where the next begins, so that no line needs more than one pass. There are no
# possessive quantifiers: early releases of Python 3.11 misplace the groups around them.
_QUOTED = rb'"([^"\\]*(?:\\.[^"\\]*)*)"'
_COMMON = (
    rb"([^ ]+) ([^ ]+) (.(?:(?! \[).)*) \[([^\]]*)\] " + _QUOTED + rb" ([0-9]{3}|-) ([0-9]{1,18}|-)"
)
_PATTERNS = {
    combined: re.compile(_COMMON + middle + rb"(?: (.*))?", re.DOTALL)
    for combined, middle in (
        (True, rb" " + _QUOTED + rb" " + _QUOTED),
        (False, rb"()()"),
    )
}


def split_log_lines(
    data: U8, starts: I64, lengths: I64, combined: bool, parts: NDArray[np.int64]
) -> None:
    """See ``protocol.Implementation``."""
    if len(lengths) != len(starts) or parts.shape[2] != len(starts):
        raise ValueError("the columns differ in length")
    if parts.shape[:2] != (_FIELDS, 2):
        raise ValueError("the parts are not of ten fields")
    text, size, pattern = data.tobytes(), len(data), _PATTERNS[combined]
    parts[:, 0], parts[:, 1] = 0, -1
    for at, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
        inside = 0 <= start <= size and 0 <= length <= size - start
        found = pattern.fullmatch(text, start, start + length) if inside else None
        if found is not None:
            spans = [found.span(number) for number in range(1, _FIELDS + 1)]
            if not combined:
                spans[7:9] = [(0, -1)] * 2
            for field, (first, end) in enumerate(spans):
                if end >= 0:
                    parts[field, :, at] = first, end - first


def copy_texts(data: U8, starts: I64, lengths: I64, out: U8) -> None:
    """See ``protocol.Implementation``."""
    pairs = list(zip(starts.tolist(), lengths.tolist(), strict=True)) if len(data) else []
    text = data.tobytes()
    inside = all(0 <= start <= len(text) - length for start, length in pairs if length > 0)
    copied = b"".join([text[start : start + length] for start, length in pairs if length > 0])
    if not inside or (pairs and len(copied) != len(out)):
        raise ValueError("the texts do not fill the bytes")
    out.data[: len(copied)] = copied
