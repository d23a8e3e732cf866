"""A new dataset compared with an earlier one: rows by source, lost values, and gates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.contract.fields import BY_SOURCE_COLUMN, OWN_PREFIX
from geolookup.dataset.coverage import percent_text
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import count_text, listed, short_id
from geolookup_builder.expected_rows import rows_before

if TYPE_CHECKING:
    from geolookup.comparison import Comparison
    from geolookup_builder.recipe.document import Recipe

_SHOWN = 8  # fields
_GAINED = "null_gained."
_STATED = {field.path for field in BY_SOURCE_COLUMN.values()}  # others follow from them


@dataclass(frozen=True, slots=True)
class RowChange:
    """The rows of a source; ``before`` is None if the earlier dataset does not have them."""

    source: str
    rows: int
    before: int | None


@dataclass(frozen=True, slots=True)
class Against:
    """A dataset compared with an earlier one, with the gates that an update would apply."""

    rows: Sequence[RowChange]
    comparison: Comparison

    def lines(self) -> Iterator[str]:
        """Yield the report, one line of text each."""
        from geolookup.comparison.gates import verdict_line

        old, parts, gates = self.comparison.old, self.comparison.parts, self.comparison.gates
        yield f"against     {old.name}, generation {short_id(old.generation)}"
        for change in self.rows:
            rows = count_text(change.rows, "row")
            before = "none" if change.before is None else f"{change.before:,}"
            yield f"  rows        {change.source}: {rows}, {before} before"
        lost = (f"{name} {percent_text(part.coverage.lost.share)}" for name, part in parts.items())
        yield f"  lost        of the known addresses: {', '.join(lost)}"
        if gained := [f"{name} {percent_text(share)}" for share, name in self._null_gained()]:
            yield f"  null gained {listed(gained, _SHOWN)}"
        failed = self.comparison.failed
        if gates:
            yield f"  gates       {len(gates) - len(failed)} of {len(gates)} hold"
        else:
            yield "  gates       none: the recipe has none, or this is another dataset"
        yield from (f"  {verdict_line(verdict)}" for verdict in failed)

    def _null_gained(self) -> list[tuple[float, str]]:
        """Return share, family and path of the stated fields that lost values, most first."""
        shares = [
            (share, f"{family}.{path}")
            for family, part in self.comparison.parts.items()
            for name, share in part.metrics.items()
            if (path := name.removeprefix(_GAINED)) != name and share
            if path in _STATED or path.startswith(OWN_PREFIX)
        ]
        return sorted(shares, key=lambda item: -item[0])


def folder_of(path: str | PathLike[str]) -> Path:
    """Return the folder of a dataset, or of the current one of a store; raises DatasetError."""
    from geolookup.comparison import open_dataset

    return Path(open_dataset(path).path)


def compared(earlier: Path, folder: Path, recipe: Recipe) -> Against:
    """Return what the new dataset of a recipe has lost, and the verdicts of its gates."""
    from geolookup.comparison import diff

    before, new = rows_before(earlier), read_manifest(folder).metadata()
    rows = [
        RowChange(source.name, source.rows, before.take(source.name))
        for source in new.sources
        if source.rows is not None and before is not None
    ]
    # As in an update: gates compare one dataset over time.
    is_same = read_manifest(earlier).metadata().name == recipe.name
    return Against(rows, diff(earlier, folder, fail_if=recipe.gates if is_same else (), top=0))
