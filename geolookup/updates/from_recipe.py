"""An update from the sources of a recipe to the current generation of a store.

Strategy: everything is made and checked in a staging directory; only the publication changes
the store, in one rename. A process that dies at any step leaves the generation before it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from geolookup.dataset.manifest import read_manifest
from geolookup.dataset.metadata import age_limit
from geolookup.errors import (
    BuildError,
    DatasetError,
    OutputError,
    QualityError,
    UpdateError,
    count_text,
)
from geolookup.filesystem import atomic
from geolookup.history.adding import add
from geolookup.history.pruning import PruneResult
from geolookup.integrity import VerifiedDataset
from geolookup.progress import Progress
from geolookup.signing.keys import PrivateKey, SigningKeys, read_signing_keys
from geolookup.store import pointer
from geolookup.store.incoming import from_verified
from geolookup.store.signatures import (
    check_signers,
    is_signed_by,
    manifest_text,
    sign,
    sign_dataset,
)
from geolookup.store.trusted import latest_serial
from geolookup.updates import sources, unchanged
from geolookup.updates.in_store import (
    Target,
    UpdateResult,
    current_of,
    has_succeeded_within,
    record_success,
    result_of,
    success_of,
    updating,
)

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import Recipe

    from geolookup.updates.sources import Tell

DEFAULT_RECIPE = "world"


@dataclass(frozen=True, slots=True)
class FromRecipe:
    """An update by a recipe, checked; ``plan`` and ``perform`` answer it."""

    recipe: Recipe
    target: Target
    if_older: timedelta | None
    cache: Path | None  # None: the default; only remote sources need it
    signers: tuple[PrivateKey, ...]
    max_memory: str | int | None = None

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self.recipe.name

    @property
    def store(self) -> Path:
        """The path of the store."""
        return self.target.store

    @classmethod
    def of(
        cls,
        recipe: str | os.PathLike[str] | None,
        target: Target,
        if_older: timedelta | float | str | None,
        cache: str | os.PathLike[str] | None,
        signing_keys: SigningKeys = (),
        max_memory: str | int | None = None,
    ) -> FromRecipe:
        """Load the recipe and fill in defaults; raises the errors of ``update``."""
        from geolookup_builder.downloads import with_strict_cache
        from geolookup_builder.memory import MemoryBudget
        from geolookup_builder.recipe import loading

        MemoryBudget.of(max_memory)  # a malformed size
        limit = None if if_older is None else age_limit(if_older, "if_older")
        plan = loading.load_packaged(DEFAULT_RECIPE) if recipe is None else loading.load(recipe)
        folder, signers = None if cache is None else Path(cache), read_signing_keys(signing_keys)
        if signers:  # they vouch for the content; a store that trusts keys needs one of them
            plan = with_strict_cache(plan)
        return cls(plan, target, limit, folder, signers, max_memory)

    def plan(self, tell: Tell) -> UpdateResult:
        """Report the steps of an update; store and cache do not change."""
        self._check_places()
        check_signers(self.store, self.signers)
        current = current_of(self.store)
        if self._is_recent():
            return UpdateResult("recent", str(self.store), current)
        sources.check_local(self.recipe)
        if sources.have_changed(self.recipe, self.cache, tell) or current is None:
            tell(f"would compile, compare and publish into {self.store}")
        else:
            tell("no remote source changed; would compile, and publish if the result differs")
        return UpdateResult("planned", str(self.store), current)

    def _check_places(self) -> None:
        """Raise OutputError if ``perform`` could not write the store or the cache."""
        from geolookup.filesystem.cache import default_folder

        self.target.check()
        if any(source.remote for source in self.recipe.sources):
            atomic.check_place(self.cache or default_folder())

    def perform(self, progress: Progress, tell: Tell) -> UpdateResult:
        """Update the store, and tell each step."""
        self.target.trust()
        with updating(self.store, tell) as staging:
            # When it began, not when it ended: later changes of a server are not in this update.
            began = datetime.now(UTC)
            if self._is_recent():  # also if this update waited for another one
                return UpdateResult("recent", str(self.store), current_of(self.store))
            check_signers(self.store, self.signers)
            sources.check_local(self.recipe)
            sources.download(self.recipe, self.cache, progress, tell)
            inputs = unchanged.inputs_of(self.recipe, self.cache)
            if folder := self._unchanged(inputs):
                tell("no file changed since the last update")
                self._sign_current(folder)
                return self._result("current", self._tidy(staging, began, inputs))
            # Verified first: neither rows nor gates are compared with a damaged generation.
            current = _Current.of(self.store)
            dataset = self._compile(staging / "dataset", current.dataset, progress, tell)
            if current.generation != current_of(self.store):  # published or rolled back meanwhile
                current = _Current.of(self.store)
            replaced = self._other_dataset(current.dataset)
            state = self._publish(dataset, current.dataset, progress)
            # Of a withdrawn generation nothing is known: the current one has other sources.
            pruned = self._tidy(staging, began, inputs if state != "withdrawn" else "")
        pruned.warnings[:0] = [*current.warnings, *replaced]
        return self._result(state, pruned)

    def _result(
        self, state: Literal["updated", "current", "withdrawn"], pruned: PruneResult
    ) -> UpdateResult:
        return result_of(state, self.store, current_of(self.store), pruned)

    def _unchanged(self, inputs: str) -> Path | None:
        """Return the current generation, if these inputs made it and it is undamaged."""
        record, current = success_of(self.store), current_of(self.store)
        if not inputs or current is None or record.get("inputs") != inputs:
            return None
        folder = Path(pointer.folder_of(self.store, current))
        is_same = record.get("published") == unchanged.publication_digest(folder)
        return folder if is_same and unchanged.is_whole(folder) else None

    def _tidy(self, staging: Path, began: datetime, inputs: str) -> PruneResult:
        """Prune, and record the success.

        Both happen after publication, so a failure is only a warning.
        """
        pruned = self.target.prune(self.recipe.update.retention)
        current, digests = current_of(self.store), dict[str, str]()
        if inputs and current is not None:
            folder = Path(pointer.folder_of(self.store, current))
            digests = {"inputs": inputs, "published": unchanged.publication_digest(folder)}
        try:
            record_success(self.store, staging, self.recipe.name, began, digests)
        except OutputError as error:
            pruned.warnings.append(f"--if-older will not know of this update: {error}")
        return pruned

    def _is_recent(self) -> bool:
        if self.if_older is None or current_of(self.store) is None:
            return False
        return has_succeeded_within(self.store, self.recipe.name, self.if_older)

    def _compile(
        self, output: Path, previous: VerifiedDataset | None, progress: Progress, tell: Tell
    ) -> VerifiedDataset:
        """Compile the downloaded files, compare rows with ``previous``, and report losses."""
        from geolookup_builder.compile import compile_recipe
        from geolookup_builder.overlaid_sources import Options

        try:
            before = None if previous is None else read_manifest(previous.folder).metadata()
            options = Options(
                cache=self.cache, offline=True, rows_before=before, max_memory=self.max_memory
            )
            report, dataset = compile_recipe(self.recipe, output, options, progress)
        except BuildError as error:
            raise UpdateError([str(error)]) from error
        except QualityError as error:
            raise UpdateError(error.problems) from error
        for source in report.sources:
            rejected, nulled = source.rejected.total(), source.nulled.total()
            if rejected or nulled:
                rows, values = count_text(rejected, "row"), count_text(nulled, "invalid value")
                tell(f"{source.name}: {rows} rejected, {values}")
        for warning in report.warnings:
            tell(f"warning: {warning}")
        return dataset

    def _publish(
        self, dataset: VerifiedDataset, current: VerifiedDataset | None, progress: Progress
    ) -> Literal["updated", "current", "withdrawn"]:
        """Publish the dataset unless it is current already, was withdrawn, or a gate fails."""
        if current is not None:
            if dataset.generation == current.generation:
                self._sign_current(current.folder)
                return "current"
            if is_withdrawn(self.store, dataset.generation):
                return "withdrawn"
            with progress.stage("comparing"):
                self._check_gates(current.folder, dataset.folder)
        if self.signers:
            text = manifest_text(dataset.folder)
            sign_dataset(dataset.folder, text, self.signers, latest_serial(self.store))
        # Signed in the staging directory: a store that trusts keys would refuse it otherwise.
        add(self.store, from_verified(dataset))
        return "updated"

    def _sign_current(self, current: Path) -> None:
        """Sign the current generation if one of the keys has not: when a key is replaced."""
        if not is_signed_by(current, self.signers):
            sign(self.store, self.signers)

    def _other_dataset(self, current: VerifiedDataset | None) -> tuple[str, ...]:
        """Return a warning if the store has another dataset: no gate compares with it."""
        if current is None:
            return ()
        name = read_manifest(current.folder).metadata().name
        if name == self.recipe.name:
            return ()
        return (f"{self.store} had another dataset, {name}: no gate was applied",)

    def _check_gates(self, old: Path, new: Path) -> None:
        """Raise UpdateError if a gate of the recipe fails; they compare one dataset over time."""
        from geolookup.comparison import diff
        from geolookup.comparison.gates import verdict_line

        gates = self.recipe.update.fail_if
        if not gates or read_manifest(old).metadata().name != self.recipe.name:
            return
        if failed := diff(old, new, fail_if=gates, top=0).failed:
            hint = (
                "to accept the change, run 'geolookup build RECIPE --output DIR'"
                f" and 'geolookup publish DIR --store {self.store}'"
            )
            raise UpdateError([*map(verdict_line, failed), hint])


@dataclass(frozen=True, slots=True)
class _Current:
    """The current generation of a store, with which the rows of sources and the gates compare.

    ``dataset`` is None, with a warning, if it is damaged or of another format version.
    """

    generation: str | None
    dataset: VerifiedDataset | None = None
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, store: Path) -> _Current:
        """Verify the current generation of a store, if it has one."""
        current = current_of(store)
        if current is None:
            return cls(None)
        try:
            return cls(current, VerifiedDataset(Path(pointer.folder_of(store, current))))
        except DatasetError as error:
            problem = "no gate was applied, because the current generation is unusable"
            return cls(current, warnings=(f"{problem}: {error}",))


def is_withdrawn(store: Path, generation: str) -> bool:
    """Return whether a rollback withdrew a generation."""
    entries = pointer.read(store)
    return any(entry.withdrawn and entry.generation == generation for entry in entries)
