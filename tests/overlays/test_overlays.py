"""An overlay over a dataset: compiled once, again after a change, and by nobody half."""

from __future__ import annotations

import os
import pickle
import shutil
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from geolookup_builder import compile as compiler

import geolookup
from geolookup.errors import BuildError, DatasetError, GeoLookupError, OutputError
from tests.cli.program import run
from tests.conftest import build_at
from tests.corrupt import forging
from tests.damage import copied
from tests.datasets import SMALL
from tests.signing import keys
from tests.store.dying import DONE, KILLED, REFUSED, Kind, ending
from tests.tiers import scaled

SITES = "network,city_name,country_code\n8.8.8.8,Site,US\n"
OTHER = SITES.replace("Site", "Other")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(folder))
    return folder


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    path = tmp_path / "sites.csv"
    path.write_text(SITES, encoding="utf-8")
    return path


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The outputs of the compilations of this process."""
    outputs, compile_recipe = list[Path](), compiler.compile_recipe

    def counted(recipe: object, output: Path, *arguments: object) -> object:
        outputs.append(output)
        return compile_recipe(recipe, output, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(compiler, "compile_recipe", counted)
    return outputs


def city(engine: geolookup.Engine) -> object:
    return engine.get("8.8.8.8", "city")


def results(cache: Path) -> list[Path]:
    return [path for path in cache.glob("overlays/*/*") if path.is_dir()]


def test_an_overlay_is_compiled_once(sites: Path, cache: Path, compilations: list[Path]) -> None:
    for _ in range(2):
        with geolookup.open(SMALL, overlay=sites) as engine, geolookup.open(SMALL) as base:
            assert city(engine) == "Site"
            assert engine.lookup("9.9.9.9", at=0) == base.lookup("9.9.9.9", at=0)
            sources = engine.metadata.sources
            assert [source.dataset for source in sources][:2] == [None, base.metadata.name]
    assert len(compilations) == 1
    geolookup.verify(*results(cache), deep=True)


def test_a_changed_overlay_is_compiled_again(sites: Path, compilations: list[Path]) -> None:
    with geolookup.open(SMALL, overlay=str(sites)) as engine:
        assert not engine.reload()
        sites.write_text(OTHER, encoding="utf-8")
        assert engine.reload()
        assert city(engine) == "Other"
        sites.write_text(SITES, encoding="utf-8")
        assert engine.reload()
        assert city(engine) == "Site"
    assert len(compilations) == 2


def test_a_bad_overlay_keeps_the_dataset_in_use(sites: Path) -> None:
    with geolookup.open(SMALL, overlay=sites) as engine:
        sites.write_text("nothing,here\n1,2\n", encoding="utf-8")
        with pytest.raises(BuildError, match=r"sites\.csv"):
            engine.reload()
        assert city(engine) == "Site"


def _before_compiling(monkeypatch: pytest.MonkeyPatch, change: Callable[[], object]) -> None:
    """Change files each time after the key of a result was computed."""
    compile_recipe = compiler.compile_recipe

    def changed(*arguments: Any) -> Any:
        change()
        return compile_recipe(*arguments)

    monkeypatch.setattr(compiler, "compile_recipe", changed)


def test_an_overlay_that_changes_meanwhile(sites: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No result has the key of other data."""
    texts = [OTHER]
    with monkeypatch.context() as patch:
        _before_compiling(patch, lambda: texts and sites.write_text(texts.pop(), encoding="utf-8"))
        with geolookup.open(SMALL, overlay=sites) as engine:
            assert city(engine) == "Other"
    sites.write_text(SITES, encoding="utf-8")
    with geolookup.open(SMALL, overlay=sites) as engine:
        assert city(engine) == "Site"


def test_an_overlay_that_changes_and_changes_back(
    sites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compile_recipe = compiler.compile_recipe

    def changed(*arguments: Any) -> Any:
        sites.write_text(OTHER, encoding="utf-8")
        done = compile_recipe(*arguments)
        sites.write_text(SITES, encoding="utf-8")
        os.utime(sites, ns=(0, next(times)))
        return done

    times = count()
    with monkeypatch.context() as patch:
        patch.setattr(compiler, "compile_recipe", changed)
        with pytest.raises(BuildError, match="changed while it was compiled"):
            geolookup.open(SMALL, overlay=sites)
    with geolookup.open(SMALL, overlay=sites) as engine:
        assert city(engine) == "Site"


def test_an_overlay_that_changes_all_the_time(
    sites: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = count()
    change = lambda: sites.write_text(f"{SITES}1.1.1.{next(numbers)},B,US\n", encoding="utf-8")  # noqa: E731
    with monkeypatch.context() as patch:
        _before_compiling(patch, change)
        with pytest.raises(BuildError, match=r"sites\.csv: changed while it was compiled"):
            geolookup.open(SMALL, overlay=sites)
    geolookup.open(SMALL, overlay=sites).close()
    assert len(results(cache)) == 1


def test_a_base_that_is_replaced_meanwhile(
    tmp_path: Path, sites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The signature that was checked is of the dataset that is compiled."""
    ours = keys.private_keys()[0]
    base, forged = copied(SMALL, tmp_path / "base"), copied(SMALL, tmp_path / "forged")
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


def test_watch_notices_the_overlay_and_a_new_generation(tmp_path: Path, sites: Path) -> None:
    store = tmp_path / "store"
    geolookup.publish(SMALL, store)
    other, _ = build_at(tmp_path, {"other.csv": "network,country_code\n7.7.7.7,FR\n"})
    with geolookup.open(store, overlay=sites, watch=0.02) as engine:
        sites.write_text(OTHER, encoding="utf-8")
        _wait(lambda: city(engine) == "Other")
        geolookup.publish(other, store)
        # The new base lacks fields of the old one: it is refused, and the old one answers.
        assert city(engine) == "Other"
    with geolookup.open(store, overlay=sites, watch=0.02, allow_lost_fields=True) as engine:
        assert engine.get("7.7.7.7", "country") == "FR"
        geolookup.publish(SMALL, store)
        _wait(lambda: engine.get("7.7.7.7", "country") != "FR")
        assert city(engine) == "Other"


def _wait(is_done: Callable[[], bool]) -> None:
    for _ in range(3000):
        if is_done():
            return
        time.sleep(0.01)
    raise AssertionError


def test_a_recipe_with_own_columns(tmp_path: Path, sites: Path, cache: Path) -> None:
    recipe = tmp_path / "overlay.toml"
    recipe.write_text(
        '[dataset]\nname = "with-sites"\n[columns]\nsite_id = { type = "text", private = true }\n'
        '[[source]]\nformat = "csv"\npath = "sites.csv"\n',
        encoding="utf-8",
    )
    sites.write_text("network,site_id\n10.0.0.0/8,hq\n8.8.8.8,dc\n", encoding="utf-8")
    with geolookup.open(SMALL, overlay=recipe) as engine, geolookup.open(SMALL) as base:
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


def test_a_base_may_have_no_answer(tmp_path: Path, sites: Path) -> None:
    base, _ = build_at(tmp_path, {"empty.csv": "network,country_code\n"})
    with geolookup.open(base, overlay=sites) as engine:
        assert city(engine) == "Site"


def test_an_engine_with_an_overlay_is_pickled(sites: Path, compilations: list[Path]) -> None:
    with geolookup.open(SMALL, overlay=sites) as engine:
        pickled = pickle.dumps(engine)
        sites.write_text(OTHER, encoding="utf-8")
        with pickle.loads(pickled) as copy:  # noqa: S301 - ours
            assert (copy.generation, city(copy)) == (engine.generation, "Site")
            assert copy.reload()
            assert city(copy) == "Other"


def test_the_base_must_be_signed(tmp_path: Path, sites: Path) -> None:
    ours, theirs = keys.private_keys()[:2]
    base = copied(SMALL, tmp_path / "base")
    with pytest.raises(DatasetError, match="sign"):
        geolookup.open(base, overlay=sites, trusted_keys=ours.public)
    geolookup.sign(base, ours)
    with geolookup.open(base, overlay=sites, trusted_keys=ours.public) as engine:
        assert city(engine) == "Site"
        with pickle.loads(pickle.dumps(engine)) as copy:  # noqa: S301 - ours
            assert city(copy) == "Site"
    with pytest.raises(DatasetError):
        geolookup.open(base, overlay=sites, trusted_keys=theirs.public)


def test_old_results_are_pruned(tmp_path: Path, sites: Path, cache: Path) -> None:
    for number in range(4):
        sites.write_text(SITES.replace("Site", f"Site {number}"), encoding="utf-8")
        with geolookup.open(SMALL, overlay=sites) as engine:
            assert city(engine) == f"Site {number}"
    assert len(results(cache)) == 2
    for number in range(17):
        path = tmp_path / f"{number}.csv"
        path.write_text(SITES, encoding="utf-8")
        geolookup.open(SMALL, overlay=path).close()
    assert len([*(cache / "overlays").iterdir()]) == 16


def test_a_damaged_result_is_compiled_again(sites: Path, cache: Path) -> None:
    geolookup.open(SMALL, overlay=sites).close()
    (result,) = results(cache)
    (result / "location.arrow").unlink()
    with geolookup.open(SMALL, overlay=sites) as engine:
        assert city(engine) == "Site"


@pytest.mark.skipif(os.name != "posix", reason="forks")
@pytest.mark.parametrize(("kind", "expected"), [("kill", KILLED), ("fault", REFUSED)])
def test_a_compilation_that_ends_leaves_nothing_half(
    sites: Path, cache: Path, kind: Kind, expected: str
) -> None:
    def work() -> None:
        geolookup.open(SMALL, overlay=sites).close()

    work()
    shutil.rmtree(cache)
    for step in range(0, 80, scaled(7, 1)):
        ended = ending(work, kind, step)
        assert ended in (expected, DONE)
        for result in results(cache):
            if not result.name.startswith("."):
                geolookup.verify(result)
        if ended == DONE:
            break
        with geolookup.open(SMALL, overlay=sites) as engine:
            assert city(engine) == "Site"
        assert not [path for path in results(cache) if path.name.startswith(".")]
        shutil.rmtree(cache)


def test_an_unusable_cache_is_one_line(
    tmp_path: Path, sites: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(OutputError) as caught:
        geolookup.open(SMALL, overlay=sites)
    assert "\n" not in str(caught.value)


def test_several_processes_compile_it_once(sites: Path, cache: Path) -> None:
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            try:
                with geolookup.open(SMALL, overlay=sites) as engine:
                    os._exit(0 if city(engine) == "Site" else 1)
            finally:
                os._exit(2)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    assert len(results(cache)) == 1


@pytest.mark.parametrize("overlay", ["x" * 5000, "x/" * 3000, "a\0b"], ids=["name", "path", "NUL"])
def test_a_name_that_no_file_can_have_is_one_line(overlay: str) -> None:
    with pytest.raises(GeoLookupError) as caught:
        geolookup.open(SMALL, overlay=overlay)
    assert "\n" not in str(caught.value)


COMMANDS = (
    ("lookup", "8.8.8.8", "-d"),
    ("explain", "8.8.8.8", "-d"),
    ("prefixes", "city=Site", "-d"),
    ("info",),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_commands_have_the_option(sites: Path, command: tuple[str, ...]) -> None:
    done = run(*command, str(SMALL), "--overlay", str(sites))
    assert done.returncode == 0, done.stderr
    expected = {"info": "sites.csv", "prefixes": "8.8.8.8/32"}.get(command[0], "Site")
    assert expected in done.stdout


def test_a_bad_overlay_of_a_command_is_one_line(tmp_path: Path) -> None:
    done = run("lookup", "8.8.8.8", "-d", str(SMALL), "--overlay", str(tmp_path / "none.csv"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_an_overlay_that_cannot_be_compiled_is_one_error(sites: Path) -> None:
    sites.write_text("network,city_name,plan\n8.8.8.8,Site,x\n", encoding="utf-8")
    with pytest.raises(BuildError, match="unknown column 'plan'") as error:
        geolookup.open(overlay=sites)
    chain = error.value.__context__
    while chain:
        assert not isinstance(chain, DatasetError)
        chain = chain.__context__
