"""The offer of a recipe to a store: the dataset of its sources, compiled if a file changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from geolookup import progress
from geolookup.comparison.gates import verdict_line
from geolookup.dataset.digests import is_whole
from geolookup.dataset.manifest import manifest_text, read_manifest
from geolookup.errors import BuildError, DownloadError, QualityError, UpdateError, count_text
from geolookup.filesystem.cache import default_folder
from geolookup.history.incoming import Incoming, from_folder, from_verified
from geolookup.integrity import VerifiedDataset
from geolookup.remote import NoConnectionError
from geolookup.remote.cache import CacheEntry
from geolookup.remote.transfer import ask
from geolookup.signing.statement import read_signature, signed_statement
from geolookup.store import pointer
from geolookup.store.trusted import check_signers, is_signed_by, latest_serial
from geolookup.updates.job import Job, Offer
from geolookup.updates.state import State

if TYPE_CHECKING:
    from geolookup_builder.recipe.document import Recipe, SourceSpec

    from geolookup.remote.address import Remote


def recipe_offer(job: Job, recipe: Recipe, before: State, folder: Path) -> Offer:
    """Download and compile a recipe; BuildError or UpdateError if a source or a demand fails."""
    from geolookup_builder.downloads import inputs_of, missing_source
    from geolookup_builder.enrichment import finders
    from geolookup_builder.values import load_reference

    check_signers(job.store, job.signers)
    required = [
        spec for spec in recipe.sources if not (spec.remote or spec.expected.may_be_missing)
    ]
    if missing := [f"{spec.name}: {text}" for spec in required if (text := missing_source(spec))]:
        raise UpdateError(missing)
    finders(recipe, load_reference(recipe.countries))  # a missing library: an error here
    download_sources(job, recipe)
    inputs = inputs_of(recipe, job.cache)
    current = _whole_current(job.store)
    is_same = current and inputs and (before.inputs, before.generation) == (inputs, current.name)
    if job.dry_run and (job.result.counts.get("changed_sources") or not is_same):
        gates = count_text(len(recipe.gates), "gate")
        job.tell(f"would compile {recipe.name}, apply {gates} and publish it")
        return Offer("planned")
    if is_same and current is not None:
        job.tell("no file changed since the last update")
        if job.dry_run:
            return Offer("unchanged")
        incoming = from_folder(current)
    else:
        with job.result.step("compile", "publish"):
            incoming = from_verified(_compile(job, recipe, folder / "dataset", current))
    gate = partial(_check_gates, job, recipe, current is not None)
    if job.signers:
        incoming = incoming.with_signature(_signature(job, incoming))
    return Offer("published", incoming, {"inputs": inputs}, gate)


def download_sources(job: Job, recipe: Recipe) -> None:
    """Download the remote sources that have changed, with a line on each.

    BuildError for a malformed key comes before the first download. All are tried before an
    UpdateError names the failures, unless a server cannot be reached. A dry run asks the servers
    only.
    """
    from geolookup_builder.downloads import check_keys

    check_keys(recipe)
    failed, wait = list[str](), 0.0
    if job.announce:
        for line in _before_downloads(recipe, job.cache or default_folder()):
            job.announce(line)
    with job.result.step("download", "compile"):
        for spec in recipe.sources:
            if spec.remote is None:
                continue
            try:
                job.tell(f"{spec.name}: {_fetch(job, spec, spec.remote)}")
            except BuildError as error:
                is_optional = spec.expected.may_be_missing and isinstance(error, DownloadError)
                (job.result.warnings if is_optional else failed).append(f"{spec.name}: {error}")
                wait = max(wait, getattr(error, "wait", None) or 0.0)
                if failed and isinstance(error.__cause__, NoConnectionError):
                    break  # probably the network: each further source would take seconds
    if failed:
        raise UpdateError(failed, wait=wait)
    if job.download_only and all(spec.remote is None for spec in recipe.sources):
        job.tell(f"{recipe.name}: no remote sources, nothing to download")


def _before_downloads(recipe: Recipe, cache: Path) -> Iterator[str]:
    """Yield the terms of the sources that are not in the cache, and what a first update needs."""
    remote = [(spec, CacheEntry(cache, spec.remote)) for spec in recipe.sources if spec.remote]
    new = [spec for spec, entry in remote if entry.current(spec.sha256) is None]
    for spec in new:
        texts = spec.texts
        credit = f"credit it as {texts['attribution']!r}" if "attribution" in texts else ""
        if terms := ", ".join(filter(None, (texts.get("licence"), credit, texts.get("url")))):
            yield f"{spec.name}: {terms}"
    if recipe.needs and new and len(new) == len(remote):
        yield f"{recipe.name}: needs {recipe.needs}"


def _fetch(job: Job, spec: SourceSpec, remote: Remote) -> str:
    """Download a source, and return what was done."""
    from geolookup_builder.downloads import download

    if job.dry_run:
        is_changed, line = ask(remote, spec.sha256, job.cache or default_folder())
        job.count(changed_sources=int(is_changed))
        return line
    fetched = download(spec, remote, job.cache, progress.current())
    job.count(downloaded=fetched.file.bytes if fetched.changed else 0)
    return str(fetched)


def _whole_current(store: Path) -> Path | None:
    """Return the folder of the current generation; None if it is damaged or missing."""
    folder = Path(pointer.folder_of(store, pointer.read(store).current or ""))
    return folder if is_whole(folder) else None


def _signature(job: Job, incoming: Incoming) -> bytes | None:
    """Return a signature by the keys of the job, the one that the store has if each has signed."""
    stored = Path(pointer.folder_of(job.store, incoming.generation))
    text = incoming.head.manifest_text
    if is_signed_by(stored, job.signers) and manifest_text(stored) == text:
        return read_signature(stored)
    return signed_statement(text, job.signers, latest_serial(job.store))


def _compile(job: Job, recipe: Recipe, output: Path, current: Path | None) -> VerifiedDataset:
    """Compile the downloaded files, compare their rows with the current generation, note losses."""
    from geolookup_builder.compile import compile_recipe
    from geolookup_builder.limits import Options

    options = Options(cache=job.cache, offline=True, earlier=current, max_memory=job.max_memory)
    try:
        report, dataset = compile_recipe(recipe, output, options, progress.current())
    except QualityError as error:
        raise UpdateError(error.problems) from error
    for source in report.sources:
        rejected, nulled = source.rejected.total(), source.nulled.total()
        job.count(rejected=rejected, nulled=nulled)
        if rejected or nulled:
            rows, values = count_text(rejected, "row"), count_text(nulled, "invalid value")
            job.tell(f"{source.name}: {rows} rejected, {values}")
    job.result.warnings += report.warnings
    return dataset


def _check_gates(job: Job, recipe: Recipe, is_whole: bool, old: Path, new: Path) -> None:
    """Raise UpdateError if a gate of the recipe fails; they compare one dataset over time."""
    from geolookup.comparison import diff

    if not recipe.gates:
        return
    if warning := recipe.unguarded():
        job.result.warnings.append(warning)
    name = read_manifest(old).metadata().name if is_whole else None
    if name != recipe.name:
        reason = f"is of the dataset {name}" if is_whole else "is damaged"
        problem = f"no gate was applied, because the current generation {reason}"
        job.result.warnings.append(f"{job.store}: {problem}")
        return
    result = diff(old, new, fail_if=recipe.gates, top=0)
    job.result.gates += map(asdict, result.gates)
    if result.failed:
        hint = (
            f"to accept the change, run 'geolookup build {recipe.path} --output DIR'"
            f" and 'geolookup store publish DIR --store {job.store}'"
        )
        if recipe.fail_if is None:
            hint += "; the recipe has no fail_if in [update], so the default gates apply"
        raise UpdateError([*map(verdict_line, result.failed), hint])
