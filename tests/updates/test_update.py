"""``geolookup update`` from a publisher on this machine: what changed, gates, recipes, dry runs."""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path

import pytest
from geolookup_builder import packaged

import geolookup
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import BuildError, OutputError, UpdateError
from geolookup.updates.from_recipe import FromRecipe
from tests.builder.remote.serving import file, status
from tests.cli.program import run
from tests.tiers import one_of_each
from tests.updates.conftest import Update, country, is_tidy
from tests.updates.publisher import ASN, COUNTRY, Publisher, countries, systems

# --- what changed


def test_from_nothing_to_answers(
    update: Update, store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    done = update()
    assert capsys.readouterr() == ("", "")
    assert (done.state, done.store, done.removed) == ("updated", str(store), ())
    with geolookup.open() as engine:
        assert engine.generation == done.generation
        assert engine.data("8.0.1.1")["network"]["asn"] == 64501
        assert engine.metadata.sources[0].date == "2026-11-19"
    assert is_tidy(store)


def test_nothing_changed(update: Update, publisher: Publisher, store: Path) -> None:
    first = update()
    before = (store / "current").read_bytes()
    again = update()
    assert (again.state, again.generation) == ("current", first.generation)
    assert (store / "current").read_bytes() == before
    conditions = [headers["If-None-Match"] for _, headers in publisher.site.asked]
    assert conditions[:2] == [None, None]
    assert all(conditions[2:])
    assert is_tidy(store)


def test_a_change_is_published_and_old_generations_pruned(
    update: Update, publisher: Publisher, store: Path
) -> None:
    ids = [update().generation]
    for number, code in enumerate(("DE", "IT"), 1):
        publisher.put(COUNTRY, countries(*[code] * number))
        done = update()
        assert (done.state, country()) == ("updated", code)
        ids.append(done.generation)
    assert [each.generation for each in geolookup.generations(store)] == ids[:0:-1]
    folders = [store / "generations" / str(each) for each in ids[1:]]
    assert [read_manifest(each).metadata().base for each in folders] == ids[:2]
    assert done.removed == (ids[0],)
    assert is_tidy(store)


@pytest.mark.long
def test_an_unchecked_drop_of_a_detected_source_is_a_warning(
    publisher: Publisher, store: Path
) -> None:
    publisher.rewrite(
        f'format = "sapics"\npath = "{publisher.site.url}/country',
        f'format = "auto"\nmax_drop = "20%"\npath = "{publisher.site.url}/country',
    )
    first, second = run("update", str(publisher.recipe)), run("update", str(publisher.recipe))
    assert f"warning: {COUNTRY}: max_drop was not checked: no earlier dataset" in first.stdout
    assert "max_drop" not in second.stdout


def test_the_same_by_the_command(publisher: Publisher, store: Path) -> None:
    first, second = run("update", str(publisher.recipe)), run("update", str(publisher.recipe))
    (generation,) = geolookup.generations(store)
    assert first.stdout == (
        f"{COUNTRY}: fetched {len(countries()):,} bytes\n"
        f"{ASN}: fetched {len(systems()):,} bytes\n"
        f"generation {generation.generation} published into {store}\n"
        "without --dataset, commands and geolookup.open() answer from published\n"
    )
    assert second.stdout.endswith(f"generation {generation.generation} is current in {store}\n")
    assert second.stdout.count("unchanged") == 2
    assert (first.returncode, first.stderr) == (second.returncode, second.stderr) == (0, "")


def test_another_store_by_option(publisher: Publisher, store: Path, tmp_path: Path) -> None:
    done = run("update", str(publisher.recipe), "--store", str(tmp_path / "other"))
    assert done.returncode == 0
    assert not store.exists()
    assert is_tidy(tmp_path / "other")


def test_a_rollback_is_not_undone(update: Update, publisher: Publisher, store: Path) -> None:
    first = update().generation
    publisher.put(COUNTRY, countries("DE"))
    update()
    geolookup.rollback(store)
    done = update()
    assert (done.state, done.generation) == ("withdrawn", first)
    publisher.put(COUNTRY, countries("IT"))
    assert update().state == "updated"
    assert country() == "IT"


@pytest.mark.long
def test_two_rollbacks_are_not_undone(
    update: Update, publisher: Publisher, store: Path, tmp_path: Path
) -> None:
    """The second generation was the base of the third; now the first one is."""
    publisher.rewrite("keep = 2", "keep = 3")
    first = update().generation
    for changed in (("DE",), ("DE", *["IT"] * 3)):
        publisher.put(COUNTRY, countries(*changed))
        third = update().generation
    geolookup.rollback(store)
    geolookup.rollback(store)
    done = update()
    assert (done.state, done.generation) == ("withdrawn", first)
    built = geolookup.build(publisher.recipe, tmp_path / "built", base=store)
    assert built.generation not in (first, third)
    publisher.put(COUNTRY, countries("DE", "IT"))
    assert update().state == "updated"


def damage(store: Path, generation: str | None, name: str = "ipv4.arrow") -> None:
    path = store / "generations" / str(generation) / name
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-64])


@pytest.mark.parametrize(
    "name", one_of_each(["location.arrow", "ipv4.arrow", "zone.arrow"], lambda _: "file")
)
def test_a_damaged_generation_is_replaced(update: Update, store: Path, name: str) -> None:
    """Also where a build with a base would read the file."""
    damage(store, update().generation, name)
    done = update()
    assert done.state == "updated"
    assert "no gate was applied" in done.warnings[0]
    assert name in done.warnings[0]
    assert country() == "FR"
    assert is_tidy(store)


@pytest.mark.long
def test_a_damaged_generation_is_replaced_after_a_rollback(
    update: Update, publisher: Publisher, store: Path
) -> None:
    """By the withdrawn one: the damaged one answers nothing."""
    first = update().generation
    publisher.put(COUNTRY, countries("DE"))
    update()
    geolookup.rollback(store)
    damage(store, first)
    assert update().state == "updated"
    assert country() == "DE"


# --- gates


def test_a_gate_refuses(update: Update, publisher: Publisher, store: Path) -> None:
    update()
    publisher.put(COUNTRY, countries(*["DE"] * 21))
    before = (store / "current").read_bytes()
    with pytest.raises(UpdateError) as caught:
        update()
    problem, remedy = caught.value.problems
    assert (
        problem == "gate failed: country_moved > 20%: ipv4.country_moved is 21 %, the limit is 20 %"
    )
    assert "geolookup build" in remedy
    assert (store / "current").read_bytes() == before
    assert country() == "FR"
    done = run("update", str(publisher.recipe))
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, f"geolookup: {problem}")
    assert is_tidy(store)
    publisher.put(COUNTRY, countries(*["DE"] * 20))
    assert update().state == "updated"


def test_rows_that_are_lost_are_counted(publisher: Publisher, store: Path) -> None:
    publisher.put(COUNTRY, countries() + b"3000000256,3000000511,ZZ\n")
    done = run("update", str(publisher.recipe))
    assert done.returncode == 0, done.stderr
    assert f"{COUNTRY}: 0 rows rejected, 1 invalid values\n" in done.stdout


def test_gates_compare_a_dataset_with_itself(publisher: Publisher, store: Path) -> None:
    run("update", str(publisher.recipe))
    publisher.put(COUNTRY, countries(code="DE"))
    publisher.rewrite('name = "published"', 'name = "another"')
    done = run("update", str(publisher.recipe))
    assert done.returncode == 0
    assert done.stderr == (
        f"geolookup: {store} had another dataset, published: no gate was applied\n"
    )
    assert country() == "DE"


# --- recipes


def test_the_default_is_the_packaged_recipe(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the current folder holds."""
    (tmp_path / "world").mkdir()
    (tmp_path / "world" / "a.csv").write_text("network,country_code\n8.0.0.0/24,FR\n")
    monkeypatch.chdir(tmp_path)
    assert FromRecipe.of("world", None, None, None).recipe.path == Path("world")
    assert FromRecipe.of(None, None, None, None).recipe.path == packaged.FOLDER / "world.toml"


def test_the_world_from_its_publisher(publisher: Publisher, store: Path, tmp_path: Path) -> None:
    """The packaged recipe, with the addresses of this machine alone."""
    text = packaged.text("world")
    addresses = re.findall(r'"(https://.*)/([^/"]+)"', text.replace('url = "', ""))
    files = [name for folder, name in addresses if "releases" in folder]
    assert len(files) == 4
    text = re.sub(r'path = "https://[^"]*/', f'path = "{publisher.site.url}/', text)
    text = text.replace('"world/', f'"{packaged.FOLDER.as_posix()}/world/')
    (tmp_path / "world.toml").write_text(text, encoding="utf-8")
    six = "2a02:8::,2a02:8:ffff:ffff:ffff:ffff:ffff:ffff,"
    for name in files:
        publisher.put(name, publisher_file(name, six))
    done = run("update", str(tmp_path / "world.toml"))
    assert (done.returncode, done.stderr) == (0, "")
    with geolookup.open() as engine:
        assert engine.data("8.8.8.8")["location"]["city_name"] == "Mountain View"
        assert engine.data("8.0.50.1")["location"]["country_code"] == "FR"
        assert engine.data("2a02:8::1")["network"]["asn"] == 64999
        dates = {each.name: each.date for each in engine.metadata.sources}
    assert dates["ip-location-db: user-country, IPv4"] == "2026-11-19"


def publisher_file(name: str, six: str) -> bytes:
    if "ipv6" in name:
        return f"{six}{'DE' if 'country' in name else '64999,Six'}\n".encode()
    return countries() if "country" in name else b"134217728,134219775,64500,Example\n"


def test_a_key_of_a_vendor(
    publisher: Publisher, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The addresses of a packaged recipe, its key, and a file that is not one."""
    text = packaged.text("maxmind-geolite2")
    text = text.replace("https://download.maxmind.com", publisher.site.url)
    (tmp_path / "geolite2.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("MAXMIND_KEY", "12345:secret")
    path = "geoip/databases/GeoLite2-City-CSV/download"
    publisher.acts[path] = file(b"<html>", '"x"')
    done = run("update", str(tmp_path / "geolite2.toml"))
    assert done.returncode == 1
    assert "secret" not in done.stdout + done.stderr
    assert "HTML" in done.stderr
    assert publisher.site.asked[0][0] == f"/{path}?suffix=zip"
    basic = "Basic " + b64encode(b"12345:secret").decode()
    assert publisher.site.asked[0][1]["Authorization"] == basic


def test_files_by_hand(store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UpdateError) as caught:
        geolookup.update("dbip-lite")
    city, asn, origin = caught.value.problems
    assert (
        city
        == f"DB-IP City Lite: no file {tmp_path}/dbip-city-lite-*.csv.gz, which is obtained by hand"
    )
    assert str(tmp_path / "dbip-asn-lite-*.csv.gz") in asn
    assert "'geolookup recipes show dbip-lite' says where" in origin
    done = run("update", "dbip-lite", "--dry-run")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 3


def test_local_sources_alone(store: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("network,country_code\n8.0.0.0/24,FR\n", encoding="utf-8")
    assert geolookup.update(tmp_path / "a.csv").state == "updated"
    assert country() == "FR"
    (tmp_path / "a.csv").unlink()
    (tmp_path / "r.toml").write_text(
        '[dataset]\nname="r"\n[[source]]\nformat="csv"\npath="a.csv"\n'
    )
    with pytest.raises(UpdateError, match=r"no file .*a\.csv.*names these files"):
        geolookup.update(tmp_path / "r.toml")


def test_an_empty_folder_has_no_file(store: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for options in ((), ("--dry-run",)):
        done = run("update", str(tmp_path / "empty"), *options)
        assert done.returncode == 1
        assert done.stderr.splitlines() == [
            f"geolookup: empty: no file in the folder {tmp_path}/empty",
            "geolookup: name a file or folder of data that is there",
        ]


def test_a_removed_current_folder(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(BuildError, match=r"^dbip-lite: .*current folder, which does not exist"):
        geolookup.update("dbip-lite")


def test_misuse(store: Path) -> None:
    for args in (
        ("wrld",),
        ("--if-older", "soon"),
        ("/nowhere.toml",),
        ("--store", "README.md", "README.md"),
        ("--store", "/nowhere/x", "README.md"),
    ):
        done = run("update", *args)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), args


def test_a_limit_of_the_age_is_named(update: Update) -> None:
    with pytest.raises(ValueError, match=r"^if_older is 'soon'"):
        update(if_older="soon")


def test_a_folder_that_is_no_store(update: Update, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(OutputError, match="is not empty and not a store"):
        update(store=tmp_path / "full")
    (tmp_path / "recipe.toml").write_text(
        'update = {kep = 1}\n[dataset]\nname = "x"\n[[source]]\nformat = "csv"\npath = "a"\n'
    )
    with pytest.raises(BuildError, match="unknown key update"):
        update()


# --- dry runs


def everything(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_a_dry_run_changes_nothing(publisher: Publisher, store: Path, tmp_path: Path) -> None:
    recipe = str(publisher.recipe)
    before = everything(tmp_path)
    first = run("update", recipe, "--dry-run")
    assert everything(tmp_path) == before
    assert first.stdout == (
        f"{COUNTRY}: would download {len(countries()):,} bytes\n"
        f"{ASN}: would download {len(systems()):,} bytes\n"
        f"would compile, compare and publish into {store}\n"
    )
    run("update", recipe)
    before = everything(tmp_path)
    second = run("update", recipe, "--dry-run")
    assert second.stdout.count(": unchanged, ") == 2
    assert second.stdout.endswith(
        "\nno remote source changed; would compile, and publish if the result differs\n"
    )
    publisher.put(COUNTRY, countries("DE"))
    before = everything(tmp_path)
    changed = run("update", recipe, "--dry-run")
    assert changed.stdout.endswith(f"\nwould compile, compare and publish into {store}\n")
    recent = run("update", recipe, "--dry-run", "--if-older", "7d")
    assert recent.stdout == f"the last update of {store} is recent; nothing done\n"
    publisher.acts[ASN] = status(404)
    failing = run("update", recipe, "--dry-run")
    assert (failing.returncode, failing.stderr.count("\n")) == (1, 1)
    assert everything(tmp_path) == before


def test_a_dry_run_checks_the_store(update: Update, publisher: Publisher, tmp_path: Path) -> None:
    """What it announces is what a run then does."""
    (tmp_path / "file").touch()
    for name in ("dataset/manifest.json", "full/file"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).touch()
    assert publisher.recipe.exists()
    before = everything(tmp_path)
    for place in ("file", "file/below", "dataset", "full", "none/store"):
        problems = []
        for dry_run in (True, False):
            with pytest.raises(OutputError) as caught:
                update(store=tmp_path / place, dry_run=dry_run)
            problems.append(str(caught.value))
            assert everything(tmp_path) == before, place
        assert problems[0] == problems[1] or place in ("file/below", "none/store"), problems


def test_a_dry_run_checks_the_cache_and_the_data_folder(
    update: Update, store: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for cache in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(OutputError) as caught:
            update(dry_run=True, cache=cache)
        assert str(caught.value) == f"{tmp_path}/file: is not a folder; choose another name"
    assert update(dry_run=True, cache=tmp_path / "none" / "cache").state == "planned"
    (tmp_path / "data").touch()
    with pytest.raises(OutputError, match="is not a folder"):
        update(dry_run=True)
    with pytest.raises(OutputError, match="cannot be created"):
        update()
