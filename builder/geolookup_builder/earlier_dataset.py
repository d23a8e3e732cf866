"""A new dataset compared with an earlier one: rows by source, lost values, and gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Self

from geolookup.dataset.coverage import percent_text
from geolookup.dataset.manifest import read_manifest
from geolookup.dataset.metadata import Metadata
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

    def __str__(self) -> str:
        rows = count_text(self.rows, "row")
        if self.before is None:
            return f"{self.source}: {rows}, not in the earlier dataset"
        change = f" ({self.rows / self.before - 1:+.1%})" if self.before else ""
        return f"{self.source}: {rows}, {self.before:,} before{change}"


@dataclass(frozen=True, slots=True)
class Against:
    """A dataset compared with an earlier one.

    ``coverage_lost`` are shares of the known addresses by family, ``null_gained`` of those that had
    a value of the field. ``gates`` are the gates of ``[update]``.
    """

    name: str
    generation: str
    rows: Sequence[RowChange]
    coverage_lost: Mapping[str, float]
    null_gained: Mapping[str, float]  # by family and field, the greatest first
    gates: Sequence[Verdict]
    is_applied: bool  # whether the gates are; not to a dataset of another name

    @property
    def has_failed(self) -> bool:
        """Whether ``update`` would refuse the new dataset."""
        return any(verdict.failed for verdict in self.gates)

    def lines(self) -> Iterator[str]:
        """Yield the report, one line of text each."""
        from geolookup.comparison.gates import verdict_line

        yield f"against     {self.name}, generation {short_id(self.generation)}"
        yield from (f"  rows        {change}" for change in self.rows)
        lost = (f"{family} {percent_text(share)}" for family, share in self.coverage_lost.items())
        yield f"  lost        of the known addresses: {', '.join(lost)}"
        gained = [f"{name} {percent_text(n)}" for name, n in self.null_gained.items() if n]
        if gained:
            yield f"  null gained {listed(gained, _SHOWN)}"
        if not self.is_applied:
            yield "  gates       not applied: this dataset has another name"
        for verdict in self.gates:
            text = verdict_line(verdict) if verdict.failed else f"gate holds: {verdict.gate}"
            yield f"  {text}"


@dataclass(frozen=True, slots=True)
class EarlierDataset:
    """The dataset in a folder, or the current one of a store, at the time of its opening."""

    folder: str
    metadata: Metadata

    @classmethod
    def at(cls, path: str | PathLike[str]) -> Self:
        """Open a dataset or store; raises DatasetError."""
        from geolookup.comparison import open_dataset

        folder = open_dataset(path).path
        return cls(folder, read_manifest(folder).metadata())

    def compared(self, folder: Path, recipe: Recipe) -> Against:
        """Return what a new dataset of the recipe has lost, and the verdicts of its gates."""
        from geolookup.comparison import diff

        # As in an update: gates compare one dataset over time.
        is_applied = self.metadata.name == recipe.name
        gates = recipe.gates if is_applied else ()
        result = diff(self.folder, folder, fail_if=gates, top=0)
        stated = [field.path for field in recipe.schema.by_source_column.values()]
        gained = {
            f"{family}.{path}": part.metrics.get(f"null_gained.{path}", 0.0)
            for family, part in result.parts.items()
            for path in stated
        }
        return Against(
            self.metadata.name,
            self.metadata.generation,
            [*self._rows(read_manifest(folder).metadata())],
            {family: part.coverage.lost.share for family, part in result.parts.items()},
            {name: gained[name] for name in sorted(gained, key=lambda name: -gained[name])},
            result.gates,
            is_applied=is_applied,
        )

    def _rows(self, new: Metadata) -> Iterator[RowChange]:
        before = rows_before(Path(self.folder))
        for source in new.sources:
            if source.rows is not None and before is not None:
                yield RowChange(source.name, source.rows, before.take(source.name))
