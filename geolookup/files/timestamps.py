"""Columns of times in tables and logs to Unix seconds.

Strategy: one pattern has the parts of all dates, and whole columns of digits become numbers. A text
that could mean two instants is refused.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from geolookup.contract.gregorian import DAY
from geolookup.contract.localtime import EARLIEST, LATEST
from geolookup.files.text_blocks import TextError
from geolookup.tables.locate import is_text
from geolookup.tables.times import PER_SECOND, Bools, Clock, Instants, Int64

_NUMBER = r"^-?[0-9]{1,30}(\.[0-9]{1,30})?$"
#: 2000-10-10 becomes 10 #10 2000: the order of other dates.
_ISO = r"^([0-9]{4})-([0-9]{2})-([0-9]{2})"
#: Of ISO 8601, mail (RFC 5322, section 3.3), HTTP (RFC 9110, section 5.6.7) and the common log
#: format, in lower case.
_DATE = (
    r"^(?:[a-z]{3}, *)?(?P<day>[0-9]{1,2})[/ ]+(?P<month>[a-z]{3}|#[0-9]{2})[/ ]+(?P<year>[0-9]{4})"
    r"(?:[t: ]+(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9])"
    r"(?::(?P<second>[0-5][0-9]|60)(?:\.[0-9]{1,9})?)?"
    r"(?: *(?P<zone>(?P<sign>[+-])(?P<east_hour>[01][0-9]|2[0-3])(?::?(?P<east_minute>[0-5][0-9]))?"
    r"|gmt|utc?|z))?)?$"
)
_MONTHS = [
    *("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"),
    *(f"#{month:02d}" for month in range(1, 13)),
]
#: From here on, numbers are milliseconds: as seconds they would be after the year 5138.
_MILLISECONDS = 10**11
_NAME_ZONE = "pass --time-zone, such as UTC"
_UNKNOWN_FORM = "a time has an unknown form", "write Unix seconds or ISO 8601 with an offset"
_TEXT = pa.large_string()


def unix_seconds(column: pa.Array, zone: str | None = None) -> pa.Array:
    """Return an array that the engine accepts as instants.

    Texts and numbers become int64, floored to seconds; columns of other types are returned
    unchanged. Numbers are Unix seconds, or milliseconds from 10^11 on.
    Texts are numbers, ISO 8601 and RFC 3339, dates of mail and HTTP, or of the common log
    format. ``zone`` is the IANA zone of texts and timestamps without an offset. Raises TextError
    for any other value.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return unix_seconds(column.dictionary_decode(), zone)
    if is_text(kind):
        return _of_texts(column.cast(_TEXT), zone)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _of_numbers(column.cast(pa.float64(), safe=False))
    if pa.types.is_timestamp(kind) and kind.tz is None:
        if zone is None:
            raise TextError("the timestamps have no time zone", _NAME_ZONE)
        ticks, absent = column.cast(pa.int64()).fill_null(0).to_numpy(), _absent(column)
        local = ticks // PER_SECOND[kind.unit]  # rounded down
        return pa.array(_in_zone(local, absent, zone), mask=absent)
    return column


def _of_texts(column: pa.Array, zone: str | None) -> pa.Array:
    texts = pc.ascii_trim_whitespace(column)
    is_number = pc.match_substring_regex(texts, _NUMBER)
    null = pa.scalar(None, _TEXT)
    numbers = pc.if_else(is_number, texts, null)
    dates = pc.if_else(is_number, null, texts)
    seconds, valid, has_offset = date_seconds(dates)
    absent = _absent(dates)
    _refuse(~valid & ~absent, *_UNKNOWN_FORM)
    is_local = ~has_offset & ~absent
    if zone is None:
        _refuse(is_local, "a time has no offset", _NAME_ZONE)
    elif is_local.any():
        seconds = np.where(is_local, _in_zone(seconds, ~is_local, zone), seconds)
    numbers = _of_numbers(numbers.cast(pa.float64()))
    return pc.coalesce(numbers, pa.array(seconds, mask=absent))


def _of_numbers(numbers: pa.Array) -> pa.Array:
    values = numbers.fill_null(0).to_numpy(zero_copy_only=False)
    seconds = np.floor(np.where(np.abs(values) < _MILLISECONDS, values, values / 1000))
    far = ~(np.abs(seconds) < LATEST)  # so is NaN
    _refuse(far, "a number is after the year 9999", "write Unix seconds")
    return pa.array(seconds.astype(np.int64), mask=_absent(numbers))


def _in_zone(local: Int64, absent: Bools, zone: str) -> Int64:
    """Return the Unix seconds of local times; raises TextError for no second or two seconds.

    Times outside the range of the contract stay outside it: the engine refuses them.
    """
    local = np.clip(local, EARLIEST - 2 * DAY, LATEST + 2 * DAY)  # a sum could overflow
    clock = Clock([None, zone], 0)
    # Berlin, 2026-10-25 02:30: +02:00 the day before and +01:00 the day after; both instants have
    # this local time. 2026-03-29 02:30: neither has, as 02:00 to 03:00 does not occur.
    earlier = local - _offsets(clock, local - DAY)
    later = local - _offsets(clock, local + DAY)
    is_earlier, is_later = (local - _offsets(clock, at) == at for at in (earlier, later))
    is_one = (is_earlier != is_later) | (is_earlier & (earlier == later))
    problem = "a local time occurs twice or never, because clocks change"
    _refuse(~is_one & ~absent, problem, "write its offset")
    return np.where(is_earlier, earlier, later)


def _offsets(clock: Clock, seconds: Int64) -> Int64:
    """Return the offset of the clock's zone at n Unix seconds, clipped to the contract's range."""
    seconds = np.clip(seconds, EARLIEST, LATEST - 1)
    rows = pa.array(np.ones(len(seconds), np.uint16))
    everywhere = np.ones(len(seconds), bool)
    member = "utc_offset_seconds"
    column = clock.take(rows, everywhere, [member], Instants(seconds, everywhere))[member]
    offsets: Int64 = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return offsets


def date_seconds(texts: pa.Array) -> tuple[Int64, Bools, Bools]:
    """Return the Unix seconds of n dates, whether each is a date, and whether it has an offset.

    The seconds of others are undefined, those without an offset are local. A leap second (:60) is
    the second after it.
    """
    texts = pc.replace_substring_regex(pc.ascii_lower(texts), _ISO, r"\3 #\2 \1")
    parts = pc.extract_regex(texts, _DATE)
    names = [field.name for field in parts.type]
    part = {name: pc.struct_field(parts, name).fill_null("") for name in names}
    month = pc.index_in(part.pop("month"), value_set=pa.array(_MONTHS, _TEXT))
    west, no_offset = (
        pc.equal(part.pop(name), text).to_numpy(zero_copy_only=False)
        for name, text in (("sign", "-"), ("zone", ""))
    )
    number = {name: _digits(column) for name, column in part.items()}
    valid = ~_absent(parts) & ~_absent(month) & (number["day"] >= 1)
    months = (number["year"] - 1970) * 12 + month.fill_null(0).to_numpy().astype(np.int64) % 12
    begins = np.where(valid, months, 0).astype("M8[M]")
    first = begins.astype("M8[D]").astype(np.int64)
    # The first of the next month less the first of this: 28 to 31 days.
    valid &= number["day"] <= (begins + 1).astype("M8[D]").astype(np.int64) - first
    east = (number["east_hour"] * 60 + number["east_minute"]) * np.where(west, -60, 60)
    clock = number["hour"] * 3600 + number["minute"] * 60 + number["second"]
    return (first + number["day"] - 1) * DAY + clock - east, valid, ~no_offset


def _digits(texts: pa.Array) -> Int64:
    """Return texts of digits as numbers, 0 for an empty text."""
    numbers: Int64 = pc.if_else(pc.equal(texts, ""), "0", texts).cast(pa.int64()).to_numpy()
    return numbers


def _absent(column: pa.Array) -> Bools:
    absent: Bools = column.is_null().to_numpy(zero_copy_only=False)
    return absent


def _refuse(rows: Bools, problem: str, remedy: str) -> None:
    """Raise TextError for the first of these rows."""
    refused = np.flatnonzero(rows)
    if len(refused):
        raise TextError(problem, remedy, row=int(refused[0]))
