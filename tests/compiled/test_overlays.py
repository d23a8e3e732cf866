"""An overlay over a dataset: compiled once, again after a change, and by nobody half."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.errors import BuildError, DatasetError, GeoLookupError, OutputError
from tests.cli.program import run
from tests.compiled.conftest import SITES
from tests.corrupt import forging
from tests.damage import TAMPERING, copied
from tests.internals.builder import compile as compiler
from tests.internals.signing import SIGNATURE
from tests.signing import keys
from tests.skips import needs
from tests.store.numbered import generation, id_of, shared

BASE = shared(0)
OTHER = SITES.replace("Site", "Other")


def city(engine: geolookup.Engine) -> object:
    return engine.get("8.8.8.8", "city")


def results(cache: Path) -> list[Path]:
    return [*cache.glob("datasets/overlay-*")]


def test_an_overlay_is_compiled_once_and_after_a_change(
    sites: Path, cache: Path, compilations: list[Path]
) -> None:
    """Also if its result is damaged. A bad overlay keeps the dataset in use."""
    for _ in range(2):
        with geolookup.open(BASE, overlay=sites) as engine, geolookup.open(BASE) as base:
            assert city(engine) == "Site"
            assert engine.get("9.9.9.9", "city") == base.get("9.9.9.9", "city") == "Town 0"
            sources = engine.metadata.sources
            assert [source.dataset for source in sources] == [None, base.metadata.name]
    assert len(compilations) == 1
    (result,) = results(cache)
    geolookup.verify(result)
    (result / "location.arrow").unlink()
    with geolookup.open(BASE, overlay=str(sites)) as engine:
        assert not engine.reload()
        for text, expected in ((OTHER, "Other"), (SITES, "Site")):
            sites.write_text(text, encoding="utf-8")
            assert engine.reload()
            assert city(engine) == expected
        sites.write_text("network,city_name,plan\n8.8.8.8,Site,x\n", encoding="utf-8")
        with pytest.raises(BuildError, match=r"sites\.csv.*unknown column 'plan'"):
            engine.reload()
        assert city(engine) == "Site"
    assert len(compilations) == 5


def test_an_overlay_answers_as_a_build_of_its_sources(tmp_path: Path) -> None:
    """Also where it states some layers only, and rows that its base has, or has no more."""
    base, sites, built = tmp_path / "base.csv", tmp_path / "sites.csv", tmp_path / "built"
    base.write_text(
        "network,country_code,city_name,asn,asn_organization,isp\n8.0.0.0/9,US,A,1,One,I\n"
        "8.8.0.0/16,DE,B,2,Two,I\n9.0.0.0/16,,,3,,J\n2a00::/32,FR,C,,,K\n",
        encoding="utf-8",
    )
    sites.write_text(
        "network,country_code,city_name,asn,isp\n8.8.8.0/24,,,1,\n8.8.9.0/24,US,A,,\n"
        "9.0.0.0/16,JP,D,,L\n2a00:1::/32,FR,C,,\n2a00::/48,,,2,K\n",
        encoding="utf-8",
    )
    geolookup.build(base, tmp_path / "base")
    geolookup.build(sources=[sites, tmp_path / "base"], output=built)
    with (
        geolookup.open(tmp_path / "base", overlay=sites) as engine,
        geolookup.open(built) as other,
    ):
        geolookup.verify(engine.path)
        assert engine.metadata.coverage == other.metadata.coverage
        addresses = ("8.8.8.8", "8.8.9.9", "8.8.7.7", "8.1.1.1", "9.0.1.1", "2a00::1", "2a00:1::1")
        for ip in addresses:
            assert engine.explain(ip)["layers"] == other.explain(ip)["layers"]


def _before_compiling(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
    """Change files each time after the key of a result was computed."""
    compile_recipe = compiler.compile_recipe

    def changed(*arguments: Any) -> Any:
        change()
        return compile_recipe(*arguments)

    monkeypatch.setattr(compiler, "compile_recipe", changed)


def test_an_overlay_that_changes_meanwhile(sites: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No result has the key of other data, and one that changes all the time is an error."""
    texts = [OTHER]
    with monkeypatch.context() as patch:
        _before_compiling(patch, lambda: texts and sites.write_text(texts.pop(), encoding="utf-8"))
        with geolookup.open(BASE, overlay=sites) as engine:
            assert city(engine) == "Other"
    numbers = count()

    def change() -> None:
        sites.write_text(f"{SITES}1.1.1.{next(numbers)},B,US\n", encoding="utf-8")

    change()
    with monkeypatch.context() as patch:
        _before_compiling(patch, change)
        with pytest.raises(BuildError, match=r"sites\.csv: changed while it was compiled"):
            geolookup.open(BASE, overlay=sites)
    sites.write_text(SITES, encoding="utf-8")
    with geolookup.open(BASE, overlay=sites) as engine:
        assert city(engine) == "Site"


def test_a_base_that_is_replaced_meanwhile(
    tmp_path: Path, sites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signature that was checked is of the dataset that is compiled."""
    ours = keys.private_keys()[0]
    base, forged = copied(BASE, tmp_path / "base"), copied(BASE, tmp_path / "forged")
    geolookup.sign(base, ours)
    forging.rewrite(forged, forging.manifest(forged) | {"name": "forged"})

    def swap() -> None:
        if forged.exists():
            base.rename(tmp_path / "ours")
            forged.rename(base)

    with monkeypatch.context() as patch:
        _before_compiling(patch, swap)
        with pytest.raises(DatasetError, match="sign"):
            geolookup.open(base, overlay=sites, trusted_keys=ours.public)


def test_a_recipe_with_own_columns(tmp_path: Path, sites: Path, cache: Path) -> None:
    recipe = tmp_path / "overlay.toml"
    recipe.write_text(
        '[dataset]\nname = "with-sites"\n[columns]\nsite_id = { type = "text", private = true }\n'
        '[[source]]\nformat = "csv"\npath = "sites.csv"\n',
        encoding="utf-8",
    )
    sites.write_text("network,site_id\n10.0.0.0/8,hq\n8.8.8.8,dc\n", encoding="utf-8")
    with geolookup.open(BASE, overlay=recipe) as engine, geolookup.open(BASE) as base:
        sites_of = [engine.own(ip) for ip in ("10.1.2.3", "8.8.8.8", "8.8.8.9")]
        assert sites_of == [{"site_id": site} for site in ("hq", "dc", None)]
        assert city(engine) == city(base)
        sites.write_text("network,site_id\n10.0.0.0/8,branch\n", encoding="utf-8")
        assert engine.reload()
        assert engine.own("10.1.2.3") == {"site_id": "branch"}
    # A file of data may have the own columns of its base.
    base_folder = max(results(cache), key=lambda path: path.stat().st_mtime_ns)
    sites.write_text("network,site_id\n10.0.0.0/8,over\n", encoding="utf-8")
    with geolookup.open(base_folder, overlay=sites) as engine:
        assert engine.own("10.1.2.3") == {"site_id": "over"}


def test_a_recipe_with_a_dataset_or_a_store(tmp_path: Path) -> None:
    """It is compiled again after their change."""
    recipe, folder, store = tmp_path / "overlay.toml", tmp_path / "folder", tmp_path / "store"
    copied(shared(1), folder)
    geolookup.publish(shared(1), store)

    def replace() -> None:
        shutil.rmtree(folder)
        copied(shared(2), folder)

    for source, change in ((folder, replace), (store, lambda: geolookup.publish(shared(2), store))):
        text = f'[dataset]\nname = "over"\n[[source]]\nformat = "dataset"\npath = "{source.name}"\n'
        recipe.write_text(text, encoding="utf-8")
        with geolookup.open(BASE, overlay=recipe) as engine:
            assert city(engine) == "Town 1"
            assert not engine.reload()
            change()
            assert engine.reload()
            assert city(engine) == "Town 2"


@needs("cryptography")
@pytest.mark.parametrize("tamper", TAMPERING)
def test_with_trusted_keys_the_cached_result_is_what_was_compiled(
    tmp_path: Path,
    sites: Path,
    cache: Path,
    compilations: list[Path],
    tamper: Callable[[Path, Path], None],
) -> None:
    """Else it is compiled again; a cache that others can change is refused."""
    ours, base = keys.private_keys()[0], copied(BASE, tmp_path / "base")
    geolookup.sign(base, ours)
    for _ in range(2):
        with geolookup.open(base, overlay=sites, trusted_keys=ours.public) as engine:
            assert (city(engine), engine.get("9.9.9.9", "city")) == ("Site", "Town 0")
        [result] = results(cache)
        tamper(result, shared(3))
    with geolookup.open(base, overlay=sites, trusted_keys=ours.public) as engine:
        assert (city(engine), engine.get("9.9.9.9", "city")) == ("Site", "Town 0")
    geolookup.verify(result)
    assert len([path for path in compilations if cache in path.parents]) == 3
    cache.chmod(0o777)
    with pytest.raises(OutputError, match="every user may write it: no dataset of this cache"):
        geolookup.open(base, overlay=sites, trusted_keys=ours.public)


@needs("cryptography")
def test_a_result_of_an_unsigned_base_does_not_answer_with_trusted_keys(
    tmp_path: Path, sites: Path
) -> None:
    """A base that states the generation of the signed one is refused before it is compiled."""
    ours, base = keys.private_keys()[0], copied(shared(1), tmp_path / "base")
    manifest = base / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8").replace(id_of(1), id_of(0)), "utf-8")
    with pytest.raises(BuildError, match="but the content gives"):
        geolookup.open(base, overlay=sites)
    shutil.rmtree(base)
    geolookup.sign(copied(BASE, base), ours)
    with geolookup.open(base, overlay=sites, trusted_keys=ours.public) as engine:
        assert engine.get("9.9.9.9", "city") == "Town 0"


def test_only_an_opening_falls_back_to_the_generation_before(tmp_path: Path, sites: Path) -> None:
    store = tmp_path / "store"
    geolookup.publish(shared(1), store)
    with geolookup.open(store, overlay=sites, fallback=True) as engine:
        geolookup.publish(shared(2), store)
        (store / "generations" / id_of(2) / "zone.arrow").unlink()
        with pytest.raises(DatasetError, match=r"zone\.arrow"):
            engine.reload()
        with pytest.raises(DatasetError, match=r"zone\.arrow"):
            geolookup.open(store, overlay=sites)
        with geolookup.open(store, overlay=sites, fallback=True) as other:
            for opened in (engine, other):
                assert opened.get("9.9.9.9", "city") == "Town 1"


@needs("cryptography")
def test_the_base_is_signed_and_not_older(tmp_path: Path, sites: Path) -> None:
    """At the opening, at each reload, and when an engine is unpickled."""
    ours, theirs = keys.private_keys()[:2]
    store, next_one = tmp_path / "store", copied(shared(2), tmp_path / "next")
    geolookup.publish(shared(1), store)
    signature = store / "generations" / id_of(1) / SIGNATURE
    with pytest.raises(DatasetError, match="not signed"):
        geolookup.open(store, overlay=sites, trusted_keys=ours.public)
    geolookup.sign(store, theirs)
    with pytest.raises(DatasetError, match="signed by no trusted key"):
        geolookup.open(store, overlay=sites, trusted_keys=ours.public)
    geolookup.sign(store, ours)
    older = signature.read_bytes()
    geolookup.sign(next_one, ours)
    older_next = (next_one / SIGNATURE).read_bytes()
    geolookup.sign(store, ours)
    with geolookup.open(store, overlay=sites, trusted_keys=ours.public) as engine:
        pickled = pickle.dumps(engine)
        (next_one / SIGNATURE).unlink()
        geolookup.publish(next_one, store)
        in_store = store / "generations" / generation(next_one) / SIGNATURE
        with pytest.raises(DatasetError, match="not signed"):
            engine.reload()
        in_store.write_bytes(older_next)
        with pytest.raises(DatasetError, match="signature is older"):
            engine.reload()
        assert engine.get("9.9.9.9", "city") == "Town 1"
        geolookup.sign(store, ours)
        assert engine.reload()
        assert engine.get("9.9.9.9", "city") == "Town 2"
    geolookup.rollback(store)
    with pickle.loads(pickled) as copy:  # noqa: S301 - ours
        assert copy.get("9.9.9.9", "city") == "Town 1"
    signature.write_bytes(older)
    with pytest.raises(DatasetError, match="signature is older"):
        pickle.loads(pickled)  # noqa: S301


def test_what_is_no_overlay_is_one_line(tmp_path: Path) -> None:
    for overlay in ("x" * 5000, "x/" * 3000, "a\0b"):
        with pytest.raises(GeoLookupError) as caught:
            geolookup.open(BASE, overlay=overlay)
        assert "\n" not in str(caught.value)
    done = run("lookup", "8.8.8.8", "-d", str(BASE), "--overlay", str(tmp_path / "none.csv"))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
