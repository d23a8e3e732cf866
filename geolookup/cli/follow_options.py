"""Options of polls of a mirror, which ``follow`` and ``serve --follow`` share."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any

import click

from geolookup.cli import fail, options
from geolookup.mirrors.polling import Polling

_DEFAULT = Polling()
_DURATION = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)([smhd])")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_RATE = re.compile(r"([0-9]{1,9})([kM]?)")
_BYTES = {"": 1, "k": 1000, "M": 1_000_000}
#: Bytes a second. Below that, servers end a connection because it is slow.
_LOWEST_RATE = 16_000


def _read_duration(_context: object, _option: object, text: str) -> float:
    found = _DURATION.fullmatch(text)
    if found is None or not (seconds := float(found[1]) * _SECONDS[found[2]]):
        fail(f"--every is {text!r}; write seconds, minutes or hours, as 30s, 5m or 1h")
    return seconds


def _read_rate(_context: object, _option: object, text: str | None) -> int | None:
    if text is None:
        return None
    found = _RATE.fullmatch(text)
    if found is None or (rate := int(found[1]) * _BYTES[found[2]]) < _LOWEST_RATE:
        fail(f"--budget is {text!r}; write bytes a second, at least 16k, as 500k or 2M")
    return rate


_OPTIONS = (
    click.option(
        "--every",
        metavar="TIME",
        default=f"{_DEFAULT.every / 60:g}m",
        show_default=True,
        callback=_read_duration,
        help="Time between two polls of the mirror, such as 30s, 5m or 1h.",
    ),
    click.option(
        "--jitter",
        metavar="PART",
        type=click.FloatRange(0, 1),
        default=_DEFAULT.jitter,
        show_default=True,
        help="Randomise each interval by up to this fraction, longer or shorter.",
    ),
    click.option(
        "--budget",
        metavar="BYTES",
        callback=_read_rate,
        help="Highest rate of a download in bytes a second, such as 500k or 2M. [default: any]",
    ),
    click.option(
        "--trust",
        metavar="KEY",
        multiple=True,
        type=click.Path(path_type=Path),
        help="Public key that a store without trusted keys trusts from now on; repeatable.",
    ),
    click.option(
        "--keep",
        metavar="N",
        type=click.IntRange(min=2),
        default=_DEFAULT.keep,
        show_default=True,
        help="Keep the N generations that were published last.",
    ),
)


def polls(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of polls; the command gets them as ``polling``."""

    @wraps(command)
    def joined(**stated: Any) -> None:
        command(**with_polling(stated))

    return options.added(_OPTIONS, joined)


def with_polling(stated: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a command with one ``polling`` in place of its members."""
    names = {option.name for option in fields(Polling)}
    polling = Polling(**{name: stated[name] for name in names})
    return {**{name: stated[name] for name in stated if name not in names}, "polling": polling}
