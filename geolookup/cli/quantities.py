"""Options that are times such as ``5m``, rates (``2M``), memory (``1GB``) or limits (``5%``)."""

from __future__ import annotations

import re
from functools import partial

import click

from geolookup.cli.options import Parsed

_TIME = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_RATE = re.compile(r"([0-9]{1,9})([kM]?)")
_BYTES = {"": 1, "k": 1000, "M": 1_000_000}
#: Bytes a second. Below that, servers end a connection because it is slow.
_LOWEST_RATE = 16_000


def time(least: float = 0.0) -> Parsed:
    """Return the type of a time in seconds; ``least`` is the shortest."""
    return Parsed(partial(_seconds, least=least))


def _seconds(text: str, least: float) -> float:
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a time such as 30s, 5m or 1h")
    seconds = float(match[1]) * _SECONDS[match[2]]
    if seconds < least:
        raise ValueError(f"{text!r} is less than {least:g}s")
    return seconds


def _rate(text: str) -> int:
    match = _RATE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a rate such as 500k or 2M bytes a second")
    rate = int(match[1]) * _BYTES[match[2]]
    if rate < _LOWEST_RATE:
        raise ValueError(f"{text!r} is less than 16k bytes a second")
    return rate


def _memory(text: str) -> int:
    from geolookup_builder.memory import MemoryBudget

    return MemoryBudget.of(text).limit


def _limit(text: str) -> int | str:
    """Return a number, or the text of a share such as 5%."""
    from geolookup_builder.limits import bound_of

    limit = int(text) if re.fullmatch("[0-9]{1,18}", text) else text
    if bound_of(limit) is None:
        raise ValueError(f"{text!r} is neither a number nor a share such as 5%")
    return limit


max_rejects = click.option(
    "--max-rejects",
    metavar="LIMIT",
    type=Parsed(_limit),
    help="Most rejected rows of each source: a number, or a share of its rows such as 5%."
    " [default: as RECIPE says, or 1%]",
)
max_nulled = click.option(
    "--max-nulled",
    metavar="LIMIT",
    type=Parsed(_limit),
    help="Most invalid values of each field of a source: a number, or a share of its values."
    " [default: as RECIPE says, or 1%]",
)
max_memory = click.option(
    "--max-memory",
    metavar="SIZE",
    type=Parsed(_memory),
    help="Memory of the build, such as 1GB: ranges beyond it go to files beside the output."
    " [default: three quarters of free memory]",
)
limit_rate = click.option(
    "--limit-rate",
    metavar="RATE",
    type=Parsed(_rate),
    help="Maximum rate of a download in bytes a second, such as 500k or 2M. [default: no limit]",
)
