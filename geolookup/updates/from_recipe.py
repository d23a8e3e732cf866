"""What a recipe offers to a store: the dataset of its sources, compiled unless nothing changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup.comparison.gates import verdict_line
from geolookup.dataset.checksums import wrong_files
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import (
    BuildError,
    DatasetError,
    DownloadError,
    QualityError,
    UpdateError,
    count_text,
)
from geolookup.filesystem.cache_folder import default_folder
from geolookup.integrity import VerifiedDataset
from geolookup.remote.transfer import ask
from geolookup.store.incoming import from_verified
from geolookup.store.signatures import (
    check_signers,
    is_signed_by,
    manifest_text,
    sign,
    sign_dataset,
)
from geolookup.store.trusted import latest_serial
from geolookup.updates.inputs import inputs_of
from geolookup.updates.job import Job, Offer
from geolookup.updates.state import State

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import Recipe, SourceSpec

    from geolookup.remote.address import Remote


@contextmanager
def recipe_offer(job: Job, recipe: Recipe, before: State, folder: Path) -> Iterator[Offer]:
    """Download and compile a recipe; UpdateError if a source, a demand or a gate fails."""
    check_signers(job.store, job.signers)
    _check_local(recipe)
    with job.step("downloading"):
        _each_remote(recipe, partial(_would_fetch if job.dry_run else _fetch, job), job)
    if job.dry_run:
        yield Offer("planned")
        return
    inputs = inputs_of(recipe, job.cache)
    if inputs and inputs == before.inputs and _is_current(job, before.generation):
        job.tell("no file changed since the last update")
        yield _unchanged(job, inputs)
        return
    with job.step("compiling"):
        dataset = _compiled(job, recipe, folder / "dataset")
    if dataset.generation in job.withdrawn:
        yield Offer("held")
    elif _is_current(job, dataset.generation):
        yield _unchanged(job, inputs)
    else:
        if job.signers:
            # Signed before it is offered: a store that trusts keys would refuse it otherwise.
            text, serial = manifest_text(dataset.folder), latest_serial(job.store)
            sign_dataset(dataset.folder, text, job.signers, serial)
        gate = partial(_check_gates, job, recipe, dataset.folder)
        yield Offer("published", {"inputs": inputs}, from_verified(dataset), gate)


def _is_current(job: Job, generation: str) -> bool:
    """Return whether a generation is current, and its files have the digests of its manifest."""
    if job.current is None or job.current.name != generation:
        return False
    try:
        return next(wrong_files(job.current, read_manifest(job.current)), None) is None
    except DatasetError:
        return False


def _unchanged(job: Job, inputs: str) -> Offer:
    """Sign the current generation if one of the keys has not: when a key is replaced."""
    if job.current is not None and not is_signed_by(job.current, job.signers):
        sign(job.store, job.signers)
    return Offer("unchanged", {"inputs": inputs})


def _check_local(recipe: Recipe) -> None:
    """Raise UpdateError if local files are missing; it names each file and its origin."""
    missing = [
        f"{spec.name}: {problem}"
        for spec in recipe.sources
        if spec.remote is None and not spec.expected.may_be_missing
        if (problem := _problem(spec))
    ]
    if missing:
        raise UpdateError([*missing, _origin(recipe)])


def _problem(spec: SourceSpec) -> str:
    from geolookup_builder.downloads import missing_source

    try:
        return missing_source(spec)
    except BuildError as error:  # such as a name longer than the system allows
        return f"{error.problem} {error.path}"


def _origin(recipe: Recipe) -> str:
    from geolookup_builder.recipe.document import PACKAGED
    from geolookup_builder.recipe.loading import SUFFIX

    if recipe.path.suffix != SUFFIX:
        return "name an existing file or folder of data"
    if recipe.path.parent != PACKAGED:
        return f"the recipe {recipe.path} names these files; add them, or correct the recipe"
    return f"obtain these files; 'geolookup recipes show {recipe.path.stem}' names their origin"


def _each_remote(recipe: Recipe, step: Callable[[SourceSpec, Remote], str], job: Job) -> None:
    """Do a step for each remote source; all are tried before an UpdateError names the failures."""
    failed, waits = list[str](), list[float]()
    for spec in recipe.sources:
        if spec.remote is None:
            continue
        try:
            job.tell(f"{spec.name}: {step(spec, spec.remote)}")
        except BuildError as error:
            waits.append(getattr(error, "wait", None) or 0.0)
            is_optional = spec.expected.may_be_missing and isinstance(error, DownloadError)
            (job.warnings if is_optional else failed).append(f"{spec.name}: {error}")
    if failed:
        raise UpdateError(failed, wait=max(waits))


def _fetch(job: Job, spec: SourceSpec, remote: Remote) -> str:
    from geolookup_builder.downloads import download

    fetched = download(spec, remote, job.cache, job.progress)
    job.counts["bytes"] += fetched.file.bytes if fetched.changed else 0
    return str(fetched)


def _would_fetch(job: Job, spec: SourceSpec, remote: Remote) -> str:
    return str(ask(remote, spec.sha256, job.cache or default_folder()))


def _compiled(job: Job, recipe: Recipe, output: Path) -> VerifiedDataset:
    """Compile the downloaded files, and note what was lost."""
    from geolookup_builder.compile import compile_recipe
    from geolookup_builder.overlaid_sources import Options

    options = Options(cache=job.cache, offline=True, max_memory=job.max_memory)
    try:
        report, dataset = compile_recipe(recipe, output, options, job.progress)
    except BuildError as error:
        raise UpdateError([str(error)]) from error
    except QualityError as error:
        raise UpdateError(error.problems) from error
    for source in report.sources:
        rejected, nulled = source.rejected.total(), source.nulled.total()
        job.counts.update(rejected=rejected, nulled=nulled)
        if rejected or nulled:
            rows, values = count_text(rejected, "row"), count_text(nulled, "invalid value")
            job.tell(f"{source.name}: {rows} rejected, {values}")
    job.warnings += report.warnings
    return dataset


def _check_gates(job: Job, recipe: Recipe, new: Path, old: Path) -> None:
    """Raise UpdateError if a gate of the recipe fails; they compare one dataset over time."""
    from geolookup.comparison import diff

    gates = recipe.update.fail_if
    if not gates:
        return
    try:
        VerifiedDataset(old)
        name = read_manifest(old).metadata().name
    except DatasetError as error:
        problem = "no gate was applied, because the current generation is unusable"
        job.warnings.append(f"{problem}: {error}")
        return
    if name != recipe.name:
        job.warnings.append(f"{job.store} had another dataset, {name}: no gate was applied")
        return
    with job.step("comparing"):
        result = diff(old, new, fail_if=gates, top=0)
    job.gates += result.gates
    if result.failed:
        hint = (
            "to accept the change, run 'geolookup build RECIPE --output DIR'"
            f" and 'geolookup publish DIR --store {job.store}'"
        )
        raise UpdateError([*map(verdict_line, result.failed), hint])
