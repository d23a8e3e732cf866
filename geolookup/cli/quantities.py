"""Types of options: times such as ``5m``, rates (``2M``), memory (``1GB``) and limits (``5%``)."""

from __future__ import annotations

import re

import click

_TIME = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_RATE = re.compile(r"([0-9]{1,9})([kM]?)")
_BYTES = {"": 1, "k": 1000, "M": 1_000_000}
#: Bytes a second. Below that, servers end a connection because it is slow.
_LOWEST_RATE = 16_000


class Time(click.ParamType):  # type: ignore[type-arg]  # not generic before Click 8.2
    """A time, read as a number of seconds; ``least`` is the shortest."""

    name = "time"

    def __init__(self, least: float = 0.0) -> None:
        self._least = least

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the seconds; raises BadParameter."""
        text = str(value)
        match = _TIME.fullmatch(text)
        if match is None:
            self.fail(f"{text!r} is not a time such as 30s, 5m or 1h", param, ctx)
        seconds = float(match[1]) * _SECONDS[match[2]]
        if seconds < self._least:
            self.fail(f"{text!r} is less than {self._least:g}s", param, ctx)
        return seconds


class Rate(click.ParamType):  # type: ignore[type-arg]  # not generic before Click 8.2
    """The rate of a download, read as a number of bytes a second."""

    name = "rate"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the bytes a second; raises BadParameter."""
        text = str(value)
        match = _RATE.fullmatch(text)
        if match is None:
            self.fail(f"{text!r} is not a rate such as 500k or 2M bytes a second", param, ctx)
        rate = int(match[1]) * _BYTES[match[2]]
        if rate < _LOWEST_RATE:
            self.fail(f"{text!r} is less than 16k bytes a second", param, ctx)
        return rate


class Memory(click.ParamType):  # type: ignore[type-arg]  # not generic before Click 8.2
    """The memory of a build, read as a number of bytes."""

    name = "memory"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the bytes; raises BadParameter."""
        from geolookup_builder.memory import MemoryBudget

        try:
            return MemoryBudget.of(str(value)).limit
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Limit(click.ParamType):  # type: ignore[type-arg]  # not generic before Click 8.2
    """A limit of a build: a number, or the text of a share such as 5%."""

    name = "limit"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | str:
        """Return the number or the text; raises BadParameter."""
        from geolookup_builder.limits import bound_of

        text = str(value)
        limit = int(text) if re.fullmatch("[0-9]{1,18}", text) else text
        if bound_of(limit) is None:
            self.fail(f"{text!r} is neither a number nor a share such as 5%", param, ctx)
        return limit


max_rejects = click.option(
    "--max-rejects",
    metavar="LIMIT",
    type=Limit(),
    help="Most rejected rows of each source: a number, or a share of its rows such as 5%."
    " [default: as RECIPE says, or 1%]",
)
max_nulled = click.option(
    "--max-nulled",
    metavar="LIMIT",
    type=Limit(),
    help="Most invalid values of each field of a source: a number, or a share of its values."
    " [default: as RECIPE says, or 1%]",
)
max_memory = click.option(
    "--max-memory",
    metavar="SIZE",
    type=Memory(),
    help="Memory of the build, such as 1GB: ranges beyond it go to files beside the output."
    " [default: three quarters of free memory]",
)
limit_rate = click.option(
    "--limit-rate",
    metavar="RATE",
    type=Rate(),
    help="Maximum rate of a download in bytes a second, such as 500k or 2M. [default: no limit]",
)
