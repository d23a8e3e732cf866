"""``geolookup update`` from a publisher on this machine: what changed, gates, recipes, dry runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import BuildError, UpdateError
from tests.cli.program import run
from tests.internals.builder import PACKAGED, loading
from tests.internals.updates import job_of
from tests.remote.serving import status
from tests.updates.conftest import (
    ASN,
    COUNTRY,
    Publisher,
    Update,
    countries,
    country,
    is_tidy,
    systems,
)


def test_from_nothing_to_answers_and_on(
    update: Update,
    publisher: Publisher,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each change is published, and old generations are pruned."""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    first = update()
    assert capsys.readouterr() == ("", "")
    assert (first.state, first.store, first.removed) == ("published", str(store), [])
    with geolookup.open() as engine:
        assert engine.generation == first.generation
        assert engine.get("8.0.1.1", "network.asn") == 64501
        assert engine.metadata.sources[0].date == "2020-11-19"
    before = (store / "current").read_bytes()
    again = update()  # nothing has changed
    assert (again.state, again.generation) == ("unchanged", first.generation)
    assert (store / "current").read_bytes() == before
    conditions = [headers["If-None-Match"] for _, headers in publisher.site.asked]
    assert conditions[:2] == [None, None]
    assert all(conditions[2:])
    ids = [str(first.generation)]
    for number, code in enumerate(("DE", "IT"), 1):
        publisher.put(COUNTRY, countries(*[code] * number))
        done = update()
        assert (done.state, country()) == ("published", code)
        ids.append(str(done.generation))
    assert [generation.generation for generation in geolookup.generations(store)] == ids[:0:-1]
    assert done.removed == [ids[0]]
    assert is_tidy(store)


def test_no_gate_compares_with_a_damaged_generation_or_another_dataset(
    update: Update, publisher: Publisher, store: Path
) -> None:
    """A damaged generation is replaced, by the same one or by another one."""
    first = update().generation

    def damage() -> None:
        path = store / "generations" / str(first) / "ipv4.arrow"
        path.chmod(0o644)
        path.write_bytes(path.read_bytes()[:-64])

    damage()
    done = update()
    assert (done.state, done.generation, done.warnings) == ("published", first, [])
    damage()
    publisher.put(COUNTRY, countries(code="DE"))
    warning = update().warnings[0]
    assert "no gate was applied, because the current generation is damaged" in warning
    assert country() == "DE"
    publisher.put(COUNTRY, countries(code="IT"))
    publisher.rewrite('name = "published"', 'name = "another"')
    problem = "no gate was applied, because the current generation is of the dataset published"
    assert update().warnings == [f"{store}: {problem}"]
    assert country() == "IT"
    assert is_tidy(store)


def test_the_world_from_its_publisher(
    publisher: Publisher, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The packaged recipe, the default whatever the current folder holds, with our addresses."""
    (tmp_path / "world").mkdir()
    (tmp_path / "world" / "a.csv").write_text("network,country_code\n8.0.0.0/24,FR\n", "utf-8")
    monkeypatch.chdir(tmp_path)
    jobs = [job_of(name, None, None, False, None, None, None, None) for name in ("world", None)]
    paths = [getattr(job.source, "path", None) for job in jobs]
    assert paths == [Path("world"), PACKAGED / "world.toml"]
    text = loading.text("world")
    addresses = re.findall(r'"(https://.*)/([^/"]+)"', text.replace('url = "', ""))
    files = [name for folder, name in addresses if "releases" in folder]
    assert len(files) == 4
    text = re.sub(r'path = "https://[^"]*/', f'path = "{publisher.site.url}/', text)
    text = text.replace('"world/', f'"{PACKAGED.as_posix()}/world/')
    (tmp_path / "world.toml").write_text(text, encoding="utf-8")
    six = "2a02:8::,2a02:8:ffff:ffff:ffff:ffff:ffff:ffff,"
    for name in files:
        of_four = countries() if "country" in name else b"134217728,134219775,64500,Example\n"
        of_six = f"{six}{'DE' if 'country' in name else '64999,Six'}\n".encode()
        publisher.put(name, of_six if "ipv6" in name else of_four)
    done = run("update", str(tmp_path / "world.toml"))
    assert (done.returncode, done.stderr) == (0, "")
    with geolookup.open() as engine:
        assert engine.get("8.8.8.8", "location.city_name") == "Mountain View"
        assert engine.get("8.0.50.1", "location.country_code") == "FR"
        assert engine.get("2a02:8::1", "network.asn") == 64999
        dates = {source.name: source.date for source in engine.metadata.sources}
    assert dates["ip-location-db: user-country, IPv4"] == "2020-11-19"


def test_local_sources_alone(store: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("network,country_code\n8.0.0.0/24,FR\n", encoding="utf-8")
    assert geolookup.update(tmp_path / "a.csv").state == "published"
    assert country() == "FR"
    (tmp_path / "a.csv").unlink()
    text = '[dataset]\nname="r"\n[[source]]\nformat="csv"\npath="a.csv"\n'
    (tmp_path / "r.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UpdateError, match=r"^a\.csv: no file .*a\.csv$"):
        geolookup.update(tmp_path / "r.toml")
    (tmp_path / "empty").mkdir()
    for options in ((), ("--dry-run",)):
        done = run("update", str(tmp_path / "empty"), *options)
        assert done.returncode == 1
        assert done.stderr == f"geolookup: empty: no file {tmp_path}/empty\n"
    (tmp_path / "r.toml").write_text(f"update = {{kep = 1}}\n{text}", encoding="utf-8")
    with pytest.raises(BuildError, match="unknown key update"):
        geolookup.update(tmp_path / "r.toml")


def everything(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def test_a_dry_run_is_of_a_place_that_can_be_written(publisher: Publisher, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place, problem in ((tmp_path / "file", "not a folder"), (tmp_path / "a" / "b", "no such")):
        with pytest.raises(geolookup.errors.OutputError, match=problem):
            geolookup.update(publisher.recipe, store=place, dry_run=True)


def test_a_dry_run_changes_nothing(publisher: Publisher, store: Path, tmp_path: Path) -> None:
    recipe = str(publisher.recipe)
    before = everything(tmp_path)
    first = run("update", recipe, "--dry-run")
    assert everything(tmp_path) == before
    assert first.stdout == (
        f"{COUNTRY}: would download {len(countries()):,} bytes\n"
        f"{ASN}: would download {len(systems()):,} bytes\n"
        "would compile published, apply 2 gates and publish it\n"
        f"planned: no dataset in {store}\n"
    )
    run("update", recipe)
    before = everything(tmp_path)
    second = run("update", recipe, "--dry-run")
    assert second.stdout.count(": unchanged, ") == 2
    assert second.stdout.splitlines()[-2] == "no file changed since the last update"
    assert second.stdout.splitlines()[-1].startswith("unchanged: published, ")
    publisher.put(COUNTRY, countries("DE"))
    before = everything(tmp_path)
    changed = run("update", recipe, "--dry-run")
    assert (changed.stdout.count("would download"), changed.stdout.count("planned: ")) == (1, 1)
    recent = run("update", recipe, "--dry-run", "--if-older", "7d")
    assert recent.stdout.startswith("recent: published, data of 2020-11-19, generation ")
    publisher.acts[ASN] = status(404)
    failing = run("update", recipe, "--dry-run")
    assert (failing.returncode, failing.stderr.count("\n")) == (1, 1)
    assert everything(tmp_path) == before


def test_a_lost_column_is_refused_without_any_gate_of_the_recipe(
    store: Path, tmp_path: Path
) -> None:
    """Every integer became 64501.x: no AS is left, and nothing else changed."""
    recipe, rows = tmp_path / "r.toml", tmp_path / "a.csv"
    text = '[dataset]\nname = "r"\n[[source]]\nformat = "csv"\npath = "a.csv"\n'
    recipe.write_text(text, encoding="utf-8")
    rows.write_text("network,country_code,asn\n8.0.0.0/24,FR,64501\n", encoding="utf-8")
    assert geolookup.update(recipe).state == "published"
    rows.write_text("network,country_code,asn\n8.0.0.0/24,FR,64501.5\n", encoding="utf-8")
    with pytest.raises(UpdateError, match=r"a.csv:2: asn '64501.5' is not an AS number; 1 of 1"):
        geolookup.update(recipe)
    rows.write_text("network,country_code,asn\n8.0.0.0/24,FR,\n", encoding="utf-8")
    with pytest.raises(UpdateError, match=r"null_gained\.network\.asn > 10%.*default gates apply"):
        geolookup.update(recipe)
    recipe.write_text(f"{text}[update]\nfail_if = []\n", encoding="utf-8")
    result = geolookup.update(recipe)
    assert (result.state, result.gates, result.warnings) == ("published", [], [])


def test_the_default_gates_end_at_a_twentieth_and_a_tenth(store: Path, tmp_path: Path) -> None:
    rows = tmp_path / "a.csv"

    def updated(count: int, systems: int) -> str:
        cells = ("FR,64501" if at < systems else "FR," for at in range(count))
        lines = (f"8.0.{at}.0/24,{line}\n" for at, line in enumerate(cells))
        rows.write_text("network,country_code,asn\n" + "".join(lines), encoding="utf-8")
        return geolookup.update(rows).state

    assert [updated(100, 100), updated(100, 90), updated(95, 90)] == ["published"] * 3
    with pytest.raises(UpdateError, match=r"coverage_lost is 5\.26"):
        updated(90, 90)
    with pytest.raises(UpdateError, match=r"null_gained\.network\.asn is 11\.1"):
        updated(95, 80)


def test_gates_that_let_losses_pass_are_a_warning(store: Path, tmp_path: Path) -> None:
    recipe, rows = tmp_path / "r.toml", tmp_path / "a.csv"
    text = '[dataset]\nname = "r"\n[[source]]\nformat = "csv"\npath = "a.csv"\n[update]\n'
    for number, gates in enumerate((["country_moved > 30%"], ["coverage_lost > 5%"])):
        recipe.write_text(f"{text}fail_if = {gates}\n", encoding="utf-8")
        for asn in (2 * number + 1, 2 * number + 2):  # two updates: a first one has no gates
            rows.write_text(f"network,asn\n8.0.0.0/24,{asn}\n", encoding="utf-8")
            warnings = geolookup.update(recipe).warnings
        said = "no gate of update.fail_if refuses lost data"
        assert [said in warning for warning in warnings] == [True] * (not number)
        assert [said in text for text in geolookup.check(recipe).warnings] == [True] * (not number)
