"""Wording of numbers and names on pages and pictures, and of the small counts that they hide.

A count below a threshold is "fewer than" it, and a page does not break it down further. Other sums
of a page may let a reader infer it.
"""

from __future__ import annotations

from geolookup.contract.fields import FIELDS
from geolookup.errors import count_text, line_text, number_text

#: Longer names are shortened: a dataset may hold names of any length.
_LONGEST = 120
_SCALES = ((1e15, "quadrillion"), (1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
_TICKS = ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k"))
_FIELDS = {field.path: field.short_name for field in FIELDS}
_UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def count(number: float) -> str:
    """Return a number with thousands separators: 1,234,567; three digits of one below 10."""
    whole = isinstance(number, int) or number >= 10 or number == int(number)
    return number_text(round(number)) if whole else f"{number:.3g}"


def is_few(number: float, least: float) -> bool:
    """Tell whether a page hides a count: it is less than ``least``, and not 0."""
    return 0 < number < least


def count_or_few(number: float, least: float) -> str:
    """Return a number as ``count`` does; of a hidden one only that it is fewer than ``least``."""
    return f"fewer than {count(least)}" if is_few(number, least) else count(number)


def short(number: float) -> str:
    """Return a number in three digits, with the word for its size: 1.23 million."""
    for size, word in _SCALES:
        if number >= 0.995 * size:
            # From 0.995 on: 995,000 is "0.995 million", 994,000 remains a count.
            return f"{float(f'{number / size:.3g}'):,g} {word}"
    return count(number)


def tick(number: float) -> str:
    """Return the label of a scale in few characters: 200, 10k, 3M, 1B, 100T."""
    for size, letter in _TICKS:
        if number >= size:
            return f"{number / size:,g}{letter}"
    return f"{number:g}"


def size(number: int) -> str:
    """Return a number of bytes in the unit that suits it: 27.9 MB."""
    for unit, word in _UNITS:
        if number >= 0.99995 * unit:  # 999,950 bytes are "1.0 MB", not "1,000.0 kB"
            return f"{number / unit:,.1f} {word}"
    return count_text(number, "byte")


def percent(share: float) -> str:
    """Return a share from 0 to 1 in percent; only none reads 0 %, and only all 100 %."""
    if 0 < share < 0.0001:
        return "< 0.01 %"
    if 0.9999 < share < 1:
        return "> 99.99 %"
    return f"{share:.2%}".replace("%", " %")


def unit(family: str, noun: str) -> str:
    """Return what a family is counted in, as shown: "IPv4 addresses" of ipv4."""
    return f"{family.replace('ip', 'IP')} {noun}"


def field_name(path: str) -> str:
    """Return the short name of a field: city of location.city_name; own columns keep theirs."""
    return _FIELDS.get(path, path)


def name(text: str) -> str:
    """Return a name as one line of at most 120 characters, its control characters escaped."""
    line = line_text(text)
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
