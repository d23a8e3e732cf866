"""A new dataset compared with an earlier one: rows by source, lost values, and gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.dataset.coverage import percent_text
from geolookup.dataset.manifest import read_manifest
from geolookup.dataset.metadata import Source
from geolookup.errors import count_text, listed, short_id
from geolookup_builder.expected_rows import rows_before

if TYPE_CHECKING:
    from geolookup.comparison.gates import Verdict
    from geolookup_builder.recipe.document import Recipe

_SHOWN = 8  # fields


@dataclass(frozen=True, slots=True)
class RowChange:
    """The rows of a source; ``before`` is None if the earlier dataset does not have them."""

    source: str
    rows: int
    before: int | None


@dataclass(frozen=True, slots=True)
class Against:
    """A dataset compared with an earlier one.

    ``coverage_lost`` are shares of the known addresses by family, ``null_gained`` of those that had
    a value of the field. ``gates`` are those that an update would apply.
    """

    name: str
    generation: str
    rows: Sequence[RowChange]
    coverage_lost: Mapping[str, float]
    null_gained: Mapping[str, float]  # by family and field, the greatest first
    gates: Sequence[Verdict]

    @property
    def has_failed(self) -> bool:
        """Whether ``update`` would refuse the new dataset."""
        return any(verdict.failed for verdict in self.gates)

    def lines(self) -> Iterator[str]:
        """Yield the report, one line of text each."""
        from geolookup.comparison.gates import verdict_line

        yield f"against     {self.name}, generation {short_id(self.generation)}"
        for change in self.rows:
            rows = count_text(change.rows, "row")
            before = "none" if change.before is None else f"{change.before:,}"
            yield f"  rows        {change.source}: {rows}, {before} before"
        lost = (f"{family} {percent_text(share)}" for family, share in self.coverage_lost.items())
        yield f"  lost        of the known addresses: {', '.join(lost)}"
        if self.null_gained:
            fields = [f"{name} {percent_text(share)}" for name, share in self.null_gained.items()]
            yield f"  null gained {listed(fields, _SHOWN)}"
        failed = [verdict for verdict in self.gates if verdict.failed]
        yield f"  gates       {len(self.gates) - len(failed)} of {len(self.gates)} hold"
        yield from (f"  {verdict_line(verdict)}" for verdict in failed)


def folder_of(path: str | PathLike[str]) -> Path:
    """Return the folder of a dataset, or of the current one of a store; raises DatasetError."""
    from geolookup.comparison import open_dataset

    return Path(open_dataset(path).path)


def compared(earlier: Path, folder: Path, recipe: Recipe) -> Against:
    """Return what the new dataset of a recipe has lost, and the verdicts of its gates."""
    from geolookup.comparison import diff

    about = read_manifest(earlier).metadata()
    # As in an update: gates compare one dataset over time.
    gates = recipe.gates if about.name == recipe.name else ()
    result = diff(earlier, folder, fail_if=gates, top=0)
    gained = {
        f"{family}.{field.path}": share
        for family, part in result.parts.items()
        for field in recipe.schema.by_source_column.values()
        if (share := part.metrics.get(f"null_gained.{field.path}"))
    }
    return Against(
        about.name,
        about.generation,
        [*_rows(earlier, read_manifest(folder).metadata().sources)],
        {family: part.coverage.lost.share for family, part in result.parts.items()},
        dict(sorted(gained.items(), key=lambda item: -item[1])),
        result.gates,
    )


def _rows(earlier: Path, sources: Sequence[Source]) -> Iterator[RowChange]:
    before = rows_before(earlier)
    for source in sources:
        if source.rows is not None and before is not None:
            yield RowChange(source.name, source.rows, before.take(source.name))
