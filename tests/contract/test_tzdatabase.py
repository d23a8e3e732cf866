"""The newer of the system's zone files and the `tzdata` package decides, for every way to ask.

Most tests let this process choose again, from folders that they make: ``choosing``. Tests of a
kernel, a worker or the start of Python begin another process.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile
from zoneinfo import ZoneInfo

import pytest
import tzdata
from click.testing import CliRunner

from geolookup.errors import SettingsError
from tests.cli.program import python, run
from tests.conftest import build_at
from tests.contract.tzif_files import written
from tests.contract.zone_probe import AT
from tests.datasets import SMALL
from tests.internals.builder import load_reference
from tests.internals.cli import info
from tests.internals.contract import Database, database, rules, tzdatabase, zone_names

ZONE, ELSEWHERE = "America/Vancouver", "America/Elsewhere"
PACKAGE = f"{tzdata.IANA_VERSION} (tzdata package)"
OFFSET = -5 * 3600 - 55 * 60
SYSTEM = written([(OFFSET, False, "SYS")], footer="SYS5:55")


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """A system's folder of zone files with rules of its own: 5:55 west of UTC."""
    folder = tmp_path / "zoneinfo"
    (folder / "America").mkdir(parents=True)
    for zone in (ZONE, ELSEWHERE, "localtime"):
        (folder / zone).write_bytes(SYSTEM)
    return folder


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = f"network,time_zone\n8.8.8.0/24,{ZONE}\n9.9.9.0/24,Europe/Paris\n"
    return build_at(tmp_path_factory.mktemp("zones"), {"a.csv": rows})[0]


def state(folder: Path, version: str, name: str = "tzdata.zi", before: str = "# version ") -> None:
    (folder / name).write_text(f"{before}{version}\n# This zic input file is public\n", "utf-8")


@contextmanager
def choosing(*folders: Path | str, wanted: str = "", package: bool = True) -> Iterator[str]:
    """Let this process choose again: the folders are the search path. Yield the choice as text."""
    caches = [item for item in vars(tzdatabase).values() if hasattr(item, "cache_clear")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tzdatabase, "search_path", lambda: tuple(map(str, folders)))
        patch.setenv("GEOLOOKUP_TZ", wanted)
        if not package:
            patch.setitem(sys.modules, "tzdata", None)
        for cache in caches:
            cache.cache_clear()
        yield str(database())
    for cache in caches:
        cache.cache_clear()


def local(zone: str = ZONE) -> tuple[int, bool, str] | None:
    """The local time at AT by the chosen database."""
    result = rules(zone)
    return None if result is None else result.state(AT)


def packaged(zone: str) -> tuple[int, bool, str]:
    """The local time at AT by the package only, as `zoneinfo` reads it."""
    with resources.files("tzdata").joinpath("zoneinfo", *zone.split("/")).open("rb") as stream:
        time = datetime.fromtimestamp(AT, UTC).astimezone(ZoneInfo.from_file(stream, key=zone))
    offset, saving = time.utcoffset(), time.dst()
    assert offset is not None
    return int(offset.total_seconds()), bool(saving), str(time.tzname())


def test_the_newer_decides_unless_one_is_chosen(system: Path) -> None:
    own = (OFFSET, False, "SYS")
    for version, wanted, named in (
        (None, "", PACKAGE),
        (None, "system", "unknown version (system)"),
        ("unknown", "", PACKAGE),
        ("\u20ac", "", PACKAGE),  # not ASCII
        ("1999z", "", PACKAGE),
        ("1999a", "system", "1999a (system)"),
        (tzdata.IANA_VERSION, "auto", f"{tzdata.IANA_VERSION} (system)"),
        ("2999a", "", "2999a (system)"),
        ("2999a", "package", PACKAGE),
    ):
        if version is not None:
            state(system, version)
        with choosing(system, wanted=wanted) as text:
            assert text == named, (version, wanted)
            assert local() == (own if "system" in named else packaged(ZONE)), (version, wanted)


def test_a_missing_system_or_package_and_another_file_of_the_version(
    system: Path, tmp_path: Path
) -> None:
    state(system, "1999a")
    with choosing(tmp_path / "nowhere") as text:
        assert (text, local()) == (PACKAGE, packaged(ZONE))
    with choosing(system, package=False) as text:
        assert (text, local()) == ("1999a (system)", (OFFSET, False, "SYS"))
    with choosing(package=False) as text:
        assert (text, local()) == ("none", None)
    (system / "tzdata.zi").unlink()
    state(system, "2999b", "+VERSION", before="")  # as macOS and the BSDs
    with choosing(tmp_path / "nowhere", system) as text:  # the first folder that exists
        assert text == "2999b (system)"


def test_a_package_in_a_zip_file(system: Path, tmp_path: Path) -> None:
    state(system, "2025b")
    archive = tmp_path / "packages.zip"
    with ZipFile(archive, "w") as packages:
        packages.writestr("tzdata/__init__.py", 'IANA_VERSION = "2998a"\n')
        packages.writestr(f"tzdata/zoneinfo/{ZONE}", written([(3600, False, "ZIP")], (), "ZIP-1"))
    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "tzdata")
        patch.syspath_prepend(archive)
        with choosing(system) as text:
            assert (text, local()) == ("2998a (tzdata package)", (3600, False, "ZIP"))
            assert rules("America/Nowhere") is None


def test_versions_in_order() -> None:
    for system, package, source in (
        *(("2025b", "2026a", "package"), ("2026a", "2026f", "package")),
        *(("2026f", "2026f", "system"), ("2026g", "2026f", "system")),
        *(("2026z", "2026za", "package"), ("2026za", "2027a", "package")),
        *(("2026f-3-g12ab34c", "2026f", "system"), ("2026f-3-g12ab34c", "2026g", "package")),
        *((None, "2020a", "package"), ("2020a", None, "system"), (None, None, "system")),
    ):
        newer = tzdatabase.newer(Database("system", system), Database("package", package))
        assert newer.source == source, (system, package)


def test_a_choice_that_is_missing_is_refused(tmp_path: Path) -> None:
    for wanted, message in (
        ("newest", "GEOLOOKUP_TZ is 'newest'; write auto, system or package, or unset it"),
        ("system", "there is no folder of zone files; install it, or write auto"),
        ("package", "there is no tzdata package; install it, or write auto"),
    ):
        refused = pytest.raises(SettingsError, match=message)
        with refused, choosing(tmp_path / "nowhere", wanted=wanted, package=False):
            pass


def test_a_bad_choice_is_one_line() -> None:
    # In a process: the choice is cached, and this one may have made it.
    done = run("lookup", "8.8.8.8", env={**os.environ, "GEOLOOKUP_TZ": "newest"})
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "GEOLOOKUP_TZ is 'newest'; write auto, system or package, or unset it" in line


def test_info_says_which(system: Path) -> None:
    state(system, "2999c")
    with choosing(system):
        shown, as_json = (
            CliRunner().invoke(info, [str(SMALL), *option]).output for option in ([], ["--json"])
        )
    assert "\ntime zones  2999c (system)\n" in shown
    assert json.loads(as_json)["time_zones"] == {"version": "2999c", "source": "system"}


def test_a_zone_that_one_lacks_is_read_from_the_other(system: Path) -> None:
    for version, source in (("1999a", "package"), ("2999a", "system")):
        state(system, version)
        with choosing(system):
            assert database().source == source
            assert rules("Europe/Paris")
            assert rules("localtime") is None
            assert local(ELSEWHERE) == (OFFSET, False, "SYS")


def test_a_malformed_file_is_as_none(system: Path) -> None:
    """The other database answers; without one, the zone is unknown."""
    state(system, "2999a")
    (system / ZONE).write_bytes(SYSTEM[:-1])
    with choosing(system):
        assert database().source == "system"
        assert local() == packaged(ZONE)
        assert rules("America") is None


def test_a_file_that_is_larger_than_any_zone(system: Path) -> None:
    least = len(written([(OFFSET, False, "")], footer="UTC0"))
    for size, is_read in ((1 << 16, True), ((1 << 16) + 1, False)):
        data = written([(OFFSET, False, "A" * (size - least))], footer="UTC0")
        (system / ELSEWHERE).write_bytes(data)
        with choosing(system, package=False):
            assert (rules(ELSEWHERE) is not None) is is_read, size


def test_the_compiler_knows_the_zones_that_lookups_can_answer() -> None:
    names = load_reference().zones
    assert len(names) > 400
    assert [name for name in names if rules(name) is None] == []
    assert set(names) == zone_names()


# Processes of their own.


def probe(dataset: Path, path: Path, *ways: str, **environment: str) -> dict[str, Any]:
    """Return the output of a process with this search path for an address of ZONE."""
    code = "import sys; from tests.contract import zone_probe; zone_probe.main(*sys.argv[1:])"
    arguments = (str(dataset), "8.8.8.8", *ways)
    answers = python(code, *arguments, PYTHONTZPATH=str(path), **environment).stdout
    shown: dict[str, Any] = json.loads(answers.splitlines()[-1])
    return shown


@pytest.mark.parametrize(
    ("version", "newer"),
    [pytest.param("1999z", "package", marks=pytest.mark.long), ("2999a", "system")],
)
def test_every_way_to_ask(dataset: Path, system: Path, version: str, newer: str) -> None:
    state(system, version)
    kernels = ["python", *["compiled"] * bool(find_spec("geolookup.kernel._compiled"))]
    ways = [f"{way} {kernel}" for kernel in kernels for way in ("dict", "json", "one", "column")]
    answers = probe(dataset, system, *ways, "spawned")
    offset, _, abbr = {"system": (OFFSET, False, "SYS"), "package": packaged(ZONE)}[newer]
    for way in (*ways, "spawned"):
        answer = answers[way]
        assert (answer["abbr"], answer["utc_offset_seconds"]) == (abbr, offset), way
        assert answer == answers["spawned"]


@pytest.mark.skipif(sys.platform == "win32", reason="Python has no search path there")
def test_what_is_loaded() -> None:
    """Opening loads no zones; the search path is known without ``sysconfig``."""
    code = (
        "import sys, geolookup; geolookup.open(); "
        "assert not {'tzdata', 'zoneinfo', 'geolookup.contract.tzdatabase'} & set(sys.modules); "
        "sys.modules['sysconfig'] = None; "
        "from geolookup.contract.tzdatabase import search_path; assert search_path()"
    )
    python(code, GEOLOOKUP_TZ=None)


@pytest.mark.parametrize("path", [None, pytest.param("", marks=pytest.mark.long), "relative:{0}"])
def test_the_search_path_is_that_of_zoneinfo(tmp_path: Path, path: str | None) -> None:
    code = (
        "from geolookup.contract.tzdatabase import search_path; found = search_path(); "
        "import warnings; warnings.simplefilter('ignore'); "
        "import zoneinfo; assert found == search_path() == zoneinfo.TZPATH, found"
    )
    shown = path and path.format(f"{tmp_path}:{tmp_path}").replace(":", os.pathsep)
    python(code, PYTHONTZPATH=shown)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no FIFOs")
def test_nothing_waits_for_a_fifo(system: Path) -> None:
    (system / ELSEWHERE).unlink()
    os.mkfifo(system / ELSEWHERE)
    with choosing(system):
        assert rules(ELSEWHERE) is None


def test_the_path_that_the_application_sets(system: Path) -> None:
    """A malformed table makes a zone unknown only where it is read."""
    state(system, "2999a")
    types = [(-18000, False, "EST"), (-14400, True, "EDT")]
    table = written(types, [(-2717650800, 0), (-1633280400, 1)], "EST5EDT,M3.2.0,M11.1.0")
    (system / "America" / "Damaged").write_bytes(table.replace(b"EDT\0", b"EDTX"))
    code = (
        "import sys, zoneinfo; zoneinfo.reset_tzpath([sys.argv[1]]); before = zoneinfo.TZPATH; "
        "from geolookup.contract.localtime import period; import geolookup; "
        "from geolookup.contract.tzdatabase import database, rules, zone_names; "
        f"assert str(database()) == '2999a (system)'; assert rules({ZONE!r}).state(0)[2] == 'SYS'; "
        "geolookup.lookup('8.8.8.8'); assert zoneinfo.TZPATH is before; names = zone_names(); "
        f"assert {{{ELSEWHERE!r}, 'Europe/Paris'}} <= names; "
        "assert not {'localtime', 'posixrules'} & names; "
        "assert period('America/Damaged', 0).abbr == 'EST'; "
        "assert period('America/Damaged', -(10**10)) is None"
    )
    python(code, str(system))


def test_wrong_case_where_the_file_system_accepts_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("UTC", "utc", "Europe/Paris", "Europe/paris"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(SYSTEM)
    listed = {str(tmp_path): ["UTC", "Europe"], str(tmp_path / "Europe"): ["Paris"]}
    with choosing(tmp_path, package=False):
        monkeypatch.setattr(sys, "platform", "darwin")
        monkeypatch.setattr(os, "listdir", listed.__getitem__)
        assert [bool(rules(zone)) for zone in ("UTC", "Europe/Paris")] == [True, True]
        assert [rules(zone) for zone in ("utc", "Europe/paris")] == [None, None]
