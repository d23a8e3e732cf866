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
from geolookup.errors import BuildError, DatasetError, OutputError, UpdateError
from geolookup.filesystem import atomic
from geolookup.integrity import verify
from geolookup.progress import Progress
from geolookup.signing.keys import PrivateKey, Signing, signing_keys
from geolookup.store import pointer
from geolookup.store.generations import prune
from geolookup.store.publish import publish
from geolookup.store.sign import check_signers, is_signed_by, sign
from geolookup.store.signatures import latest_serial, sign_dataset
from geolookup.updates import sources
from geolookup.updates.in_store import record_success, succeeded_within, updating
from geolookup.updates.place import check_place, current_of, make_data_folder, place_of
from geolookup.updates.result import Updated
from geolookup.updates.withdrawn import is_withdrawn

if TYPE_CHECKING:
    from geolookup_builder.recipe import Recipe

    from geolookup.updates.sources import Tell

DEFAULT_RECIPE = "world"


@dataclass(frozen=True, slots=True)
class FromRecipe:
    """An update by a recipe, checked; ``planned`` and ``performed`` answer it."""

    recipe: Recipe
    store: Path
    if_older: timedelta | None
    cache: Path | None  # None: the default, which remote sources alone need
    signers: tuple[PrivateKey, ...]

    @property
    def name(self) -> str:
        """The name of the dataset."""
        return self.recipe.name

    @classmethod
    def of(
        cls,
        recipe: str | os.PathLike[str] | None,
        store: str | os.PathLike[str] | None,
        if_older: timedelta | float | str | None,
        cache: str | os.PathLike[str] | None,
        sign: Signing = (),
    ) -> FromRecipe:
        """Load the recipe, and fill in what is not stated; the errors are those of ``update``."""
        from geolookup_builder import loading

        limit = None if if_older is None else age_limit(if_older, "if_older")
        plan = loading.load_packaged(DEFAULT_RECIPE) if recipe is None else loading.load(recipe)
        folder = None if cache is None else Path(cache)
        return cls(plan, place_of(store), limit, folder, signing_keys(sign))

    def planned(self, tell: Tell) -> Updated:
        """Tell what an update would do; the store and the cache stay as they are."""
        self._check_places()
        check_signers(self.store, self.signers)
        current = current_of(self.store)
        if self._is_recent():
            return Updated("recent", str(self.store), current)
        sources.check_local(self.recipe)
        if sources.asked(self.recipe, self.cache, tell) or current is None:
            tell(f"would compile, compare and publish into {self.store}")
        else:
            tell("no remote source changed; would compile, and publish if the result differs")
        return Updated("planned", str(self.store), current)

    def _check_places(self) -> None:
        """Raise OutputError where ``performed`` could not write the store or the cache."""
        from geolookup.remote.cache import default_folder

        check_place(self.store)
        if any(each.remote for each in self.recipe.sources):
            atomic.check_place(self.cache or default_folder())

    def performed(self, progress: Progress, tell: Tell) -> Updated:
        """Update the store, and tell each step."""
        make_data_folder(self.store)
        with updating(self.store, tell) as staging:
            began = datetime.now(UTC)
            if self._is_recent():  # also where this update waited for another one
                return Updated("recent", str(self.store), current_of(self.store))
            check_signers(self.store, self.signers)
            sources.check_local(self.recipe)
            sources.download(self.recipe, self.cache, progress, tell)
            built = self._compiled(staging / "dataset", progress, tell)
            current, damaged = _comparable(self.store)
            replaced = self._other_dataset(current)
            state = self._published(staging / "dataset", built, current, progress)
            removed, unfinished = self._tidied(staging, began)
        warnings = (*damaged, *replaced, *unfinished)
        return Updated(state, str(self.store), current_of(self.store), removed, warnings)

    def _tidied(self, staging: Path, began: datetime) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Prune, and record the success; return the removed generations, and what failed.

        The store is up to date by now, so that neither is an error of the update.
        """
        removed: list[str] = []
        unfinished = []
        try:
            removed = prune(self.store, self.recipe.update.keep)
        except OutputError as error:
            unfinished.append(f"old generations are not all removed: {error}")
        try:
            record_success(self.store, staging, self.recipe.name, began)
        except OutputError as error:
            unfinished.append(f"--if-older will not know of this update: {error}")
        return tuple(removed), tuple(unfinished)

    def _is_recent(self) -> bool:
        if self.if_older is None or current_of(self.store) is None:
            return False
        return succeeded_within(self.store, self.recipe.name, self.if_older)

    def _compiled(self, output: Path, progress: Progress, tell: Tell) -> str:
        """Compile what was downloaded, tell what was lost; return the generation."""
        from geolookup_builder.compile import Options, compile_recipe

        try:
            options = Options(cache=self.cache, offline=True, base=self._base())
            report = compile_recipe(self.recipe, output, options, progress)
        except BuildError as error:
            raise UpdateError([str(error)]) from error
        for source in report.sources:
            rejected, nulled = source.rejected.total(), source.nulled.total()
            if rejected or nulled:
                tell(f"{source.name}: {rejected:,} rows rejected, {nulled:,} invalid values")
        for warning in report.warnings:
            tell(f"warning: {warning}")
        return report.generation

    def _base(self) -> Path | None:
        """Return the current generation, whose row numbers are kept, if it is undamaged."""
        current, _ = _comparable(self.store)
        return None if current is None else Path(pointer.folder_of(self.store, current))

    def _published(
        self, dataset: Path, built: str, current: str | None, progress: Progress
    ) -> Literal["updated", "current", "withdrawn"]:
        """Publish the dataset unless it is current already, was withdrawn, or a gate fails."""
        if current is not None:
            if built == current:
                self._sign_current(current)
                return "current"
            if is_withdrawn(self.store, dataset, built):
                return "withdrawn"
            with progress.stage("comparing"):
                self._check_gates(Path(pointer.folder_of(self.store, current)), dataset)
        if self.signers:
            sign_dataset(dataset, self.signers, latest_serial(self.store))
        publish(dataset, self.store)
        return "updated"

    def _sign_current(self, current: str) -> None:
        """Sign the current generation if one of the keys has not: when a key is replaced."""
        if not is_signed_by(Path(pointer.folder_of(self.store, current)), self.signers):
            sign(self.store, self.signers)

    def _other_dataset(self, current: str | None) -> tuple[str, ...]:
        """Return a warning if the store has another dataset, with which no gate compares."""
        if current is None:
            return ()
        name = read_manifest(pointer.folder_of(self.store, current)).metadata().name
        if name == self.recipe.name:
            return ()
        return (f"{self.store} had another dataset, {name}: no gate was applied",)

    def _check_gates(self, old: Path, new: Path) -> None:
        """Raise UpdateError if a gate of the recipe fails; they compare one dataset over time."""
        from geolookup.comparison import diff, verdict_line

        gates = self.recipe.update.fail_if
        if not gates or read_manifest(old).metadata().name != self.recipe.name:
            return
        if failed := diff(old, new, fail_if=gates, top=0).failed:
            hint = (
                "to accept the change, run 'geolookup build RECIPE --output DIR'"
                f" and 'geolookup publish DIR {self.store}'"
            )
            raise UpdateError([*map(verdict_line, failed), hint])


def _comparable(store: Path) -> tuple[str | None, tuple[str, ...]]:
    """Return the current generation, which is the base, and with which gates compare.

    None, and a warning, if it is damaged or of another format version.
    """
    current = current_of(store)
    try:
        if current is not None:
            verify(pointer.folder_of(store, current))
    except DatasetError as error:
        return None, (f"no gate was applied, because the current generation is unusable: {error}",)
    return current, ()
