"""Sources read as a build reads them, without the dataset that it writes of them.

The last step of a build takes nine tenths of the time of a few rows. What a reader, its checks and
the overlay of sources do is seen before it; ``test_auto`` compares both for a file of each format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from ipaddress import IPv4Address, IPv6Address, ip_address, summarize_address_range
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from geolookup.errors import BuildError
from tests.internals.builder import (
    FORMATS,
    BuildReport,
    Options,
    OverlaidSources,
    Reject,
    SourceReport,
    loading,
    sources_read,
    with_language,
)
from tests.internals.builder import VENDOR_COLUMNS_COLUMNS as COLUMNS
from tests.internals.contract import MAX
from tests.internals.dataset import Addresses
from tests.internals.parallel import parallel
from tests.internals.progress import Progress

#: What is stated of an address: the known fields, and own columns as ``own.NAME``.
Stated = dict[str, Any]
Files = Mapping[str, str | bytes]
#: The type of each column that readers offer; LANG is German or Portuguese.
OFFERED = {
    name.replace("LANG", language): kind
    for name, kind in COLUMNS.items()
    for language in ("de", "pt_br")
}
#: Declares all of them, in one layer.
OWN = "[columns]\n" + "".join(
    f'{name} = {{ type = "{kind}", group = "vendor" }}\n' for name, kind in OFFERED.items()
)


#: Rows and values may all be bad.
LENIENT: dict[str, Any] = {"max_rejected": 10**9, "max_nulled": "100%"}


class Reading:
    """The sources of a recipe, read and overlaid."""

    def __init__(self, build: OverlaidSources) -> None:
        self.report: BuildReport = build.report
        self._build = build

    @property
    def source(self) -> SourceReport:
        """The report of the first source."""
        return self.report.sources[0]

    @property
    def format(self) -> str:
        """The format of the first source: the one that ``auto`` detected."""
        return self._build.plan.sources[0].format

    @cached_property
    def rejects(self) -> list[Reject]:
        """The rejected rows, as the file of rejects lists them."""
        rows = (row for of_table in self._build.rejects for row in of_table.find(str))
        return [row for row in rows if not row.reason.startswith(("nulled: ", "far: "))]

    def bad_lines(self) -> list[tuple[int, str]]:
        """Line and reason of each rejected row."""
        return [(row.line, row.reason) for row in self.rejects]

    def stated(self, *addresses: str) -> list[Stated]:
        """The known fields of each address."""
        return [self.at(address) for address in addresses]

    def at(self, text: str) -> Stated:
        """The known fields of an address; IPv4 written as IPv6 is IPv4."""
        address = ip_address(text)
        address = getattr(address, "ipv4_mapped", None) or address
        starts = self._build.partitions[address.version].starts
        before = starts.search(Addresses.of(address.version, [int(address)]))
        return self._interval(address.version, int(before[0]) - 1)

    def values(self, field: str, *addresses: str) -> list[Any]:
        """One field of each address; None if unknown."""
        return [item.get(field) for item in self.stated(*addresses)]

    def intervals(self) -> list[tuple[int, int, Stated]]:
        """Family, first address and known fields of each interval; neighbours differ."""
        intervals: list[tuple[int, int, Stated]] = []
        for family, layered in self._build.partitions.items():
            for at in range(len(layered.starts)):
                stated = self._interval(family, at)
                if not intervals or intervals[-1][::2] != (family, stated):
                    intervals.append((family, layered.starts.item(at), stated))
        return intervals

    def ranges(self) -> dict[str, Stated]:
        """All that is stated: the known fields by network, or by the ends of a range."""
        actual: dict[str, Stated] = {}
        last = dict(MAX)
        for family, first, stated in reversed(self.intervals()):
            if stated:
                kind = IPv4Address if family == 4 else IPv6Address
                ends = kind(first), kind(last[family])
                networks = [str(network) for network in summarize_address_range(*ends)]
                actual[networks[0] if len(networks) == 1 else f"{ends[0]}-{ends[1]}"] = stated
            last[family] = first - 1
        return actual

    def by_network(self, field: str) -> dict[str, Any]:
        """One field of all that is stated, as ``ranges`` names it."""
        return {network: stated[field] for network, stated in self.ranges().items()}

    def _interval(self, family: int, at: int) -> Stated:
        stated: Stated = {}
        for layer, numbers in self._build.partitions[family].numbers.items():
            stated |= self._tuples[layer][int(numbers[at])]
        return stated

    @cached_property
    def _tuples(self) -> dict[str, list[Stated]]:
        """The known fields of each tuple, by layer and number."""
        actual: dict[str, list[Stated]] = {}
        for layer, values in self._build.layers.items():
            if values.size == 1:
                actual[layer] = [{}]
                continue
            tuples = values.tuples()
            columns = {name: tuples.values(name).to_pylist() for name in tuples.fields}
            actual[layer] = [
                {name: cell for name, cell in zip(columns, row, strict=True) if cell is not None}
                for row in zip(*columns.values(), strict=True)
            ]
        return actual


_TYPES = {"asn": "integer", "latitude": "real", "longitude": "real", **OFFERED}
_VALUES: dict[str, Callable[[str], object]] = {
    "boolean": "true".__eq__,
    "integer": int,
    "real": float,
    "text": str,
}


def fields(text: str) -> Stated:
    """Fields written as ``asn=64500; isp=Acme; mcc=310``, as their columns hold them.

    Columns that readers offer become own ones: ``own.mcc``.
    """
    stated: Stated = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, _, value = part.partition("=")
        key = f"own.{name}" if name in OFFERED else name
        stated[key] = _VALUES[_TYPES.get(name, "text")](value)
    return stated


def without_own(ranges: Mapping[str, Stated]) -> dict[str, Stated]:
    """Return what a source states if no own column is declared."""
    plain = {
        network: {name: value for name, value in stated.items() if not name.startswith("own.")}
        for network, stated in ranges.items()
    }
    return {network: stated for network, stated in plain.items() if stated}


def check_offers(format_: str, cases: Iterable[Mapping[str, Stated]]) -> None:
    """Cases, each what is known by network, must have every own column that a format offers."""
    names = {name for known in cases for stated in known.values() for name in stated}
    own = {with_language(name.removeprefix("own."))[0] for name in names if name[:4] == "own."}
    assert own == FORMATS[format_].offers


def read_at(folder: Path, files: Files, recipe: str | None = None, **options: Any) -> Reading:
    """Write files and a recipe (default: every file as a CSV source), and read its sources.

    Sources may be empty, and every row may be bad.
    """
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    if recipe is None:
        head, _, table = one("csv", "NAME").partition("[[source]]")
        tables = ["[[source]]" + table.replace("NAME", name) for name in sorted(files)]
        recipe = head + "".join(tables)
    text = recipe.replace("[[source]]\n", '[[source]]\nempty = "ok"\n')
    (folder / "recipe.toml").write_text(text, encoding="utf-8")
    selection = Options(**{**LENIENT, "max_memory": "1GB", **options})
    # Threads cost more than they save on a few rows; the tests of whole builds use them.
    with (
        mock.patch.object(parallel, "cores", int),
        sources_read(
            loading.load(folder / "recipe.toml"), selection, Progress(), folder / "dataset"
        ) as overlaid,
    ):
        return Reading(overlaid)


Read = Callable[..., Reading]


def one(format_: str, path: str, *options: str) -> str:
    """A recipe of one source; ``options`` are lines of TOML."""
    lines = "\n".join(options)
    return f'[dataset]\nname = "t"\n[[source]]\nformat = "{format_}"\npath = "{path}"\n{lines}\n'


def fails(folder: Path, files: Files, recipe: str | None = None, **options: Any) -> BuildError:
    """The one-line error with a remedy that reading files ends with."""
    with pytest.raises(BuildError) as caught:
        read_at(folder, files, recipe, **options)
    assert "\n" not in str(caught.value)
    assert caught.value.remedy
    return caught.value


def refused(folder: Path, name: str, content: str | bytes, recipe: str) -> BuildError:
    """The error that a file ends with."""
    return fails(folder, {name: content}, recipe)
