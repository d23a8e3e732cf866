"""``geolookup update`` against a publisher on this machine: what changed, what fails, who waits."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from geolookup_builder import packaged
from geolookup_builder.remote import transfer
from geolookup_builder.remote.protocol import Limits

import geolookup
from geolookup.errors import BuildError, OutputError, UpdateError
from tests.builder.remote.serving import FAST, Handler, cut, file, serving, status, to, trickle
from tests.cli.program import run
from tests.conftest import ROOT
from tests.updates.conftest import Update, is_tidy
from tests.updates.publisher import ASN, COUNTRY, Publisher, countries

LATER = "Thu, 19 Nov 2026 09:00:00 GMT"


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries without the waits that no test has to sit through."""
    for call in (transfer.fetch, transfer.ask):
        defaults = tuple(
            FAST if each is transfer.DEFAULT_LIMITS else each for each in call.__defaults__ or ()
        )
        monkeypatch.setattr(call, "__defaults__", defaults)


def country(ip: str = "8.0.0.1") -> object:
    with geolookup.open() as engine:
        return engine.data(ip)["location"]["country_code"]


# --- what changed


def test_from_nothing_to_answers(update: Update, store: Path) -> None:
    done = update()
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
    for number, code in enumerate(("DE", "IT", "ES"), 1):
        publisher.put(COUNTRY, countries(*[code] * number))
        done = update()
        assert (done.state, country()) == ("updated", code)
        ids.append(done.generation)
    assert [each.generation for each in geolookup.generations(store)] == ids[:1:-1]
    assert done.removed == (ids[1],)
    assert is_tidy(store)


def test_the_same_by_the_command(publisher: Publisher, store: Path) -> None:
    first, second = run("update", str(publisher.recipe)), run("update", str(publisher.recipe))
    (generation,) = geolookup.generations(store)
    assert first.stdout == (
        f"{COUNTRY}: fetched {len(countries()):,} bytes\n{ASN}: fetched 1,947 bytes\n".replace(
            "1,947", f"{size(publisher, ASN):,}"
        )
        + f"generation {generation.generation} published into {store}\n"
    )
    assert second.stdout.endswith(f"generation {generation.generation} is current in {store}\n")
    assert second.stdout.count("unchanged") == 2
    assert (first.returncode, first.stderr) == (second.returncode, second.stderr) == (0, "")


def size(publisher: Publisher, name: str) -> int:
    (path,) = (publisher.folder / "cache").glob(f"{name}-*/*/{name}")
    return path.stat().st_size


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


def test_a_damaged_generation_is_replaced(update: Update, store: Path) -> None:
    done = update()
    assert done.generation
    path = store / "generations" / done.generation / "ipv4.arrow"
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-64])
    assert update().state == "updated"
    assert country() == "FR"
    assert is_tidy(store)


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


def test_gates_compare_a_dataset_with_itself(publisher: Publisher, store: Path) -> None:
    run("update", str(publisher.recipe))
    publisher.put(COUNTRY, countries(code="DE"))
    publisher.rewrite('name = "published"', 'name = "another"')
    done = run("update", str(publisher.recipe))
    assert done.returncode == 0
    assert "no gate applied: the current generation is of another dataset, published" in done.stdout
    assert country() == "DE"


# --- sources that fail


def kept(update: Update, publisher: Publisher, store: Path, problem: str) -> None:
    """A failing update keeps the store; the next one with good sources succeeds."""
    before = (store / "current").read_bytes()
    with pytest.raises(UpdateError, match=problem):
        update()
    assert (store / "current").read_bytes() == before
    assert country() == "FR"
    assert is_tidy(store)
    publisher.put(COUNTRY, countries("DE"))
    assert update().state == "updated"
    assert country() == "DE"


def test_truncated(update: Update, publisher: Publisher, store: Path) -> None:
    """The network ends in the middle, time after time."""
    update()
    publisher.acts[COUNTRY] = cut(countries("DE"), 700, etag='"two"')
    kept(update, publisher, store, r"truncated, at 700 of .* \(tried 4 times\)")


def test_the_network_ends_in_the_middle_and_comes_back(
    update: Update, publisher: Publisher, store: Path
) -> None:
    update()
    content, acts = countries("DE"), [cut(countries("DE"), 700, reset=True, etag='"two"')]

    def act(handler: Handler) -> None:
        (acts.pop() if acts else file(content, '"two"', Last_Modified=LATER))(handler)

    publisher.acts[COUNTRY] = act
    assert update().state == "updated"
    assert publisher.site.ranges[-2] == "bytes=700-"


def test_no_connection(update: Update, publisher: Publisher, store: Path) -> None:
    update()
    publisher.rewrite(publisher.site.url, "http://localhost:1")
    with pytest.raises(UpdateError, match="cannot be reached") as caught:
        update()
    assert len(caught.value.problems) == 2  # every source is named
    assert country() == "FR"


def test_half_a_file(update: Update, publisher: Publisher, store: Path) -> None:
    """Whole for the protocol, half for the reader: a row ends in its middle."""
    update()
    content = countries()
    publisher.put(COUNTRY, content[: content.index(b"\n", len(content) // 2) + 16])
    kept(update, publisher, store, r"country-ipv4-num\.csv:\d+: ")


def test_half_a_file_at_the_end_of_a_row(update: Update, publisher: Publisher, store: Path) -> None:
    update()
    publisher.put(COUNTRY, b"".join(countries().splitlines(keepends=True)[:50]))
    with pytest.raises(UpdateError, match=r"null_gained.location.country_code is 50 %"):
        update()
    assert country("8.0.99.1") == "FR"


def test_wrong_digest(update: Update, publisher: Publisher, store: Path) -> None:
    digest = hashlib.sha256(countries()).hexdigest()
    publisher.rewrite('date = "last-modified"', f'date = "last-modified"\nsha256 = "{digest}"')
    update()
    publisher.rewrite(digest, "0" * 64)
    with pytest.raises(UpdateError, match=f"SHA-256 of the file is {digest}, the recipe says 0000"):
        update()
    assert country() == "FR"


def test_a_slow_server(
    update: Update, publisher: Publisher, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    update()
    limits = Limits(attempts=2, first_wait=0.001, silence=5.0, pace_over=0.2, slowest=1 << 20)
    monkeypatch.setattr(transfer.fetch, "__defaults__", (limits,))
    publisher.acts[COUNTRY] = trickle(countries("DE")[:200], 0.01)
    kept(update, publisher, store, "the server sends fewer than 1,048,576 bytes a second")


@pytest.mark.parametrize(
    ("code", "problem"), [(404, "no such file on"), (403, "refuses access"), (503, "answers 503")]
)
def test_a_status(
    update: Update, publisher: Publisher, store: Path, code: int, problem: str
) -> None:
    update()
    publisher.acts[COUNTRY] = status(code)
    kept(update, publisher, store, problem)


def test_a_redirect_to_another_host(update: Update, publisher: Publisher, store: Path) -> None:
    with serving(
        file(countries("IT"), '"cdn"', Last_Modified="Thu, 19 Nov 2026 08:00:00 GMT")
    ) as other:
        elsewhere = other.url.replace("localhost", "127.0.0.1")
        publisher.acts[COUNTRY] = to(f"{elsewhere}/signed?token=1")
        assert update().state == "updated"
        assert country() == "IT"
        assert update().state == "current"
    assert [headers["If-None-Match"] for _, headers in other.asked] == [None, '"cdn"']


def test_without_a_first_update_nothing_is_published(publisher: Publisher, store: Path) -> None:
    publisher.acts[ASN] = status(404)
    done = run("update", str(publisher.recipe))
    assert done.returncode == 1
    assert done.stderr.startswith(f"geolookup: {ASN}: {publisher.site.url}/{ASN}: no such file")
    assert not (store / "current").exists()
    with geolookup.open() as engine:
        assert engine.path.parent != store / "generations"


# --- recipes


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


@pytest.mark.parametrize(
    "args",
    [
        ("wrld",),
        ("--if-older", "soon"),
        ("/nowhere.toml",),
        ("--store", "README.md", "README.md"),
        ("--store", "/nowhere/x", "README.md"),
    ],
)
def test_misuse(args: tuple[str, ...], store: Path) -> None:
    done = run("update", *args)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


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


# --- if older, and the clock


def recorded(store: Path, checked: datetime) -> None:
    path = store / "update.json"
    stated = json.loads(path.read_text())
    path.write_text(json.dumps({**stated, "checked": checked.isoformat()}))


def test_if_older(update: Update, publisher: Publisher, store: Path) -> None:
    now = datetime.now(UTC)
    assert update(if_older="7d").state == "updated"  # there was nothing
    asked = len(publisher.site.asked)
    assert update(if_older="7d").state == "recent"
    recorded(store, now - timedelta(days=6, hours=23))
    assert update(if_older=timedelta(days=7)).state == "recent"
    assert len(publisher.site.asked) == asked
    recorded(store, now - timedelta(days=7, minutes=1))
    assert update(if_older=7).state == "current"
    assert len(publisher.site.asked) > asked
    done = run("update", str(publisher.recipe), "--if-older", "1w")
    assert done.stdout == f"the last update of {store} is recent; nothing done\n"


def test_a_failed_update_is_not_recent(update: Update, publisher: Publisher) -> None:
    publisher.acts[ASN] = status(404)
    for _ in range(2):
        with pytest.raises(UpdateError):
            update(if_older="7d")


def test_another_dataset_is_not_recent(update: Update, publisher: Publisher) -> None:
    update()
    publisher.rewrite('name = "published"', 'name = "another"')
    assert update(if_older="7d").state == "updated"


@pytest.mark.parametrize(
    "clock",
    [
        "9999-12-31T00:00:00+00:00",
        "2027-01-01T00:00:00+00:00",
        "1970-01-01T00:00:00+00:00",
        "nonsense",
        "2026-11-22T00:00:00",
    ],
)
def test_a_wrong_clock_blocks_no_update(update: Update, store: Path, clock: str) -> None:
    """The clock was ahead when the last update succeeded, or the record cannot be read."""
    update()
    path = store / "update.json"
    path.write_text(json.dumps({"dataset": "published", "checked": clock}))
    assert update(if_older="7d").state == "current"
    for text in ("", "[]", "[" * 100_000, '{"checked": 1}'):
        path.write_text(text)
        assert update(if_older="7d").state == "current"


def test_the_order_of_generations_is_not_that_of_the_clock(
    update: Update, publisher: Publisher, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock was years ahead at the first update, and is right at the second."""
    monkeypatch.setattr("geolookup.store.publish._now", lambda: "2099-01-01T00:00:00Z")
    update()
    monkeypatch.undo()
    monkeypatch.setenv("GEOLOOKUP_STORE", str(store))
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(publisher.folder / "cache"))
    monkeypatch.delenv("GEOLOOKUP_DATASET", raising=False)
    publisher.put(COUNTRY, countries("DE"))
    assert update().state == "updated"
    assert country() == "DE"


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
        f"{ASN}: would download {len(systems_of(publisher)):,} bytes\n"
        f"would compile, compare and publish into {store}\n"
    )
    run("update", recipe)
    before = everything(tmp_path)
    second = run("update", recipe, "--dry-run")
    assert second.stdout.count(": unchanged, ") == 2
    assert second.stdout.endswith(
        "\nno remote source changed; would compile, and publish if the result differs\n"
    )
    recent = run("update", recipe, "--dry-run", "--if-older", "7d")
    assert recent.stdout == f"the last update of {store} is recent; nothing done\n"
    publisher.acts[ASN] = status(404)
    failing = run("update", recipe, "--dry-run")
    assert (failing.returncode, failing.stderr.count("\n")) == (1, 1)
    assert everything(tmp_path) == before


def systems_of(publisher: Publisher) -> bytes:
    from tests.updates.publisher import systems

    return systems()


# --- two at once


def test_two_at_once(publisher: Publisher, store: Path) -> None:
    """The second waits, says so, and finds everything current."""
    begun, go = threading.Event(), threading.Event()
    usual = publisher.acts[ASN]

    def waiting(handler: Handler) -> None:
        begun.set()
        assert go.wait(60)
        usual(handler)

    publisher.acts[ASN] = waiting
    args = [sys.executable, "-m", "geolookup", "update", str(publisher.recipe)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "builder")])}

    def started() -> subprocess.Popen[str]:
        return subprocess.Popen(
            args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    with started() as first:
        assert begun.wait(60)
        with started() as second:
            assert second.stdout is not None
            told = second.stdout.readline()
            assert (
                told == "another update of this store is running; waiting until it has finished\n"
            )
            time.sleep(0.1)
            assert second.poll() is None
            go.set()
            output, errors = first.communicate()
            rest, others = second.communicate()
    assert (first.returncode, errors) == (second.returncode, others) == (0, "")
    assert "published into" in output
    assert "is current in" in rest
    assert len(geolookup.generations(store)) == 1
    assert is_tidy(store)
