"""The newer of the system's zone files and the `tzdata` package decides, for every way to ask."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from datetime import UTC, datetime
from importlib import resources
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile
from zoneinfo import ZoneInfo

import pytest
import tzdata
from geolookup_builder.reference.tables import load_time_zones

from geolookup.contract import tzdatabase
from geolookup.contract.tzdatabase import Database
from geolookup.errors import SettingsError
from tests.cli.program import run
from tests.conftest import ROOT, build_at
from tests.contract.zone_probe import AT

ZONE, ELSEWHERE = "America/Vancouver", "America/Elsewhere"
PACKAGE = f"{tzdata.IANA_VERSION} (tzdata package)"
#: Runs the probe as where the package is not installed.
WITHOUT_PACKAGE = (
    "import sys; sys.modules['tzdata'] = None; from tests.contract import zone_probe; "
    "zone_probe.main(*sys.argv[1:])"
)


def tzif(abbreviation: str, seconds: int) -> bytes:
    """A zone file of one offset (RFC 9636, version 2); the offset is whole hours and minutes."""
    counts = struct.pack(">6l", 0, 0, 0, 0, 1, len(abbreviation) + 1)
    block = b"TZif2" + bytes(15) + counts
    block += struct.pack(">lBB", seconds, 0, 0) + abbreviation.encode() + b"\0"
    hours, minutes = divmod(abs(seconds) // 60, 60)
    sign = "-" if seconds > 0 else ""  # POSIX counts westward
    return block * 2 + f"\n{abbreviation}{sign}{hours}:{minutes:02d}\n".encode()


@pytest.fixture
def system(tmp_path: Path) -> Path:
    """A system's folder of zone files with rules of its own: 5:55 west of UTC."""
    folder = tmp_path / "zoneinfo"
    (folder / "America").mkdir(parents=True)
    for zone in (ZONE, ELSEWHERE, "localtime"):
        (folder / zone).write_bytes(tzif("SYS", -5 * 3600 - 55 * 60))
    return folder


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = f"network,time_zone\n8.8.8.0/24,{ZONE}\n9.9.9.0/24,Europe/Paris\n"
    return build_at(tmp_path_factory.mktemp("zones"), {"a.csv": rows})[0]


def state(folder: Path, version: str, name: str = "tzdata.zi", before: str = "# version ") -> None:
    (folder / name).write_text(f"{before}{version}\n# This zic input file is public\n")


def probe(
    dataset: Path, path: str, *ways: str, code: str | None = None, **environment: str
) -> dict[str, Any]:
    """Return what a process with this search path prints for an address of ZONE."""
    start = ["-c", code] if code else ["-m", "tests.contract.zone_probe"]
    done = subprocess.run(
        [sys.executable, *start, str(dataset), "8.8.8.8", *(ways or ("looked_up",))],
        cwd=ROOT,
        env={**os.environ, "PYTHONTZPATH": path, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def packaged(zone: str) -> datetime:
    """The local time at AT by the package alone, as `zoneinfo` has it."""
    with resources.files("tzdata").joinpath("zoneinfo", *zone.split("/")).open("rb") as stream:
        return datetime.fromtimestamp(AT, UTC).astimezone(ZoneInfo.from_file(stream, key=zone))


def test_the_zone_files_of_these_tests_are_some() -> None:
    zone = ZoneInfo.from_file(BytesIO(tzif("SYS", -21_300)))
    assert datetime.fromtimestamp(AT, zone).isoformat() == "2026-11-30T18:05:00-05:55"


@pytest.mark.parametrize(
    ("version", "wanted", "source"),
    [
        ("1999z", "", "package"),
        ("2999a", "", "system"),
        (tzdata.IANA_VERSION, "auto", "system"),
        (None, "", "package"),
        ("unknown", "", "package"),
        ("1999a", "system", "system"),
        (None, "system", "system"),
        ("2999a", "package", "package"),
    ],
)
def test_the_newer_decides_unless_one_is_chosen(
    dataset: Path, system: Path, version: str | None, wanted: str, source: str
) -> None:
    if version is not None:
        state(system, version)
    found = probe(dataset, str(system), GEOLOOKUP_TZ=wanted)
    shown = None if version == "unknown" else version
    named = PACKAGE if source == "package" else f"{shown or 'unknown version'} (system)"
    assert found["database"] == named
    time = "2026-11-30T18:05:00-05:55" if source == "system" else packaged(ZONE).isoformat()
    assert found["looked_up"]["current_time"] == time


@pytest.mark.parametrize("kernel", ["python", "compiled"])
@pytest.mark.parametrize(
    ("version", "newer"),
    [pytest.param("1999z", "package", marks=pytest.mark.long), ("2999a", "system")],
)
def test_every_way_to_ask(
    dataset: Path, system: Path, kernel: str, version: str, newer: str
) -> None:
    if kernel == "compiled" and find_spec("geolookup.kernel._compiled") is None:
        pytest.skip("the extension is not built")
    state(system, version)
    ways = ("looked_up", "as_json", "at_one_instant", "at_a_column", "spawned")
    found = probe(dataset, str(system), *ways, GEOLOOKUP_KERNEL=kernel)
    local = packaged(ZONE)
    offset = local.utcoffset()
    assert offset is not None
    abbr, seconds = {
        "system": ("SYS", -21_300),
        "package": (local.tzname(), int(offset.total_seconds())),
    }[newer]
    for way in ways:
        assert (found[way]["abbr"], found[way]["utc_offset_seconds"]) == (abbr, seconds), way
        assert found[way] == found["looked_up"]


@pytest.mark.long
@pytest.mark.parametrize(("version", "newer"), [("1999z", "package"), ("2999a", "system")])
def test_workers_of_spark(dataset: Path, system: Path, version: str, newer: str) -> None:
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("no java")
    state(system, version)
    found = probe(dataset, str(system), "looked_up", "spark", PYSPARK_PYTHON=sys.executable)
    assert found["spark"] == found["looked_up"]
    assert (found["spark"]["abbr"] == "SYS") is (newer == "system")


def test_the_version_file_of_macos_and_the_bsds(dataset: Path, system: Path) -> None:
    state(system, "2999b", "+VERSION", before="")
    assert probe(dataset, str(system))["database"] == "2999b (system)"


def test_the_first_folder_that_exists_is_the_system(
    dataset: Path, system: Path, tmp_path: Path
) -> None:
    state(system, "2999b")
    path = os.pathsep.join((str(tmp_path / "nowhere"), str(system)))
    assert probe(dataset, path)["database"] == "2999b (system)"


def test_a_missing_system_and_a_missing_package(dataset: Path, system: Path) -> None:
    state(system, "1999a")
    assert probe(dataset, "")["database"] == PACKAGE
    found = probe(dataset, str(system), code=WITHOUT_PACKAGE)
    assert (found["database"], found["looked_up"]["abbr"]) == ("1999a (system)", "SYS")
    found = probe(dataset, "", code=WITHOUT_PACKAGE)
    assert (found["database"], found["looked_up"]["zone"]) == ("none", None)


def test_a_package_in_a_zip_file(dataset: Path, system: Path, tmp_path: Path) -> None:
    state(system, "2025b")
    archive = tmp_path / "packages.zip"
    with ZipFile(archive, "w") as written:
        written.writestr("tzdata/__init__.py", 'IANA_VERSION = "2998a"\n')
        written.writestr(f"tzdata/zoneinfo/{ZONE}", tzif("ZIP", 3600))
    path = os.pathsep.join((str(archive), os.environ.get("PYTHONPATH", "")))
    found = probe(dataset, str(system), PYTHONPATH=path)
    assert (found["database"], found["looked_up"]["abbr"]) == ("2998a (tzdata package)", "ZIP")


@pytest.mark.parametrize(
    ("system_version", "package_version", "source"),
    [
        ("2025b", "2026a", "package"), ("2026a", "2026f", "package"), ("2026f", "2026f", "system"),
        ("2026g", "2026f", "system"), ("2026z", "2026za", "package"),
        ("2026za", "2027a", "package"), ("2026f-3-g12ab34c", "2026f", "system"),
        ("2026f-3-g12ab34c", "2026g", "package"),
        (None, "2020a", "package"), ("2020a", None, "system"), (None, None, "system"),
    ],
)  # fmt: skip
def test_versions_in_order(
    system_version: str | None, package_version: str | None, source: str
) -> None:
    found = tzdatabase.newer(
        Database("system", system_version), Database("package", package_version)
    )
    assert found.source == source


@pytest.mark.parametrize(
    ("path", "wanted", "problem"),
    [
        (None, "newest", "GEOLOOKUP_TZ is 'newest'; write auto, system or package, or unset it"),
        ("", "system", "no folder of zone files"),
    ],
)
def test_a_bad_choice_is_one_line(path: str | None, wanted: str, problem: str) -> None:
    environment = {"GEOLOOKUP_TZ": wanted} | ({} if path is None else {"PYTHONTZPATH": path})
    for arguments in (("lookup", "8.8.8.8"), ("info",)):
        done = run(*arguments, env=environment)
        assert (done.returncode, done.stdout) == (2, "")
        assert problem in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_the_package_is_chosen_but_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tzdata", None)
    monkeypatch.setenv("GEOLOOKUP_TZ", "package")
    with pytest.raises(SettingsError, match="no tzdata package; install it, or write auto"):
        tzdatabase.database.__wrapped__()


def test_info_says_which(dataset: Path, system: Path) -> None:
    state(system, "2999c")
    environment = {"PYTHONTZPATH": str(system)}
    assert "\ntime zones  2999c (system)\n" in run("info", str(dataset), env=environment).stdout
    described = json.loads(run("info", str(dataset), "--json", env=environment).stdout)
    assert described["time_zones"] == {"version": "2999c", "source": "system"}


def test_a_zone_that_one_lacks_is_read_from_the_other(system: Path) -> None:
    code = (
        "from geolookup.contract.tzdatabase import database, rules, zone_names; import sys; "
        f"assert database().source == sys.argv[1]; assert rules({ELSEWHERE!r}); "
        "assert rules('Europe/Paris'); assert not rules('localtime'); "
        f"assert {{{ELSEWHERE!r}, 'Europe/Paris'}} <= zone_names(); "
        "assert not {'localtime', 'posixrules'} & zone_names()"
    )
    for version, source in (("1999a", "package"), ("2999a", "system")):
        state(system, version)
        environment = {**os.environ, "PYTHONTZPATH": str(system)}
        subprocess.run([sys.executable, "-c", code, source], cwd=ROOT, env=environment, check=True)


def test_a_malformed_file_is_as_none(system: Path) -> None:
    """The other database answers; without one, the zone is unknown. Nothing waits for a FIFO."""
    code = (
        "from geolookup.contract.tzdatabase import database, rules; import sys; "
        "assert database().source == 'system'; assert rules(sys.argv[1]).state(0)[2] != 'SYS'; "
        "assert rules(sys.argv[2]) is None; assert rules('America') is None"
    )
    state(system, "2999a")
    (system / ZONE).write_bytes(tzif("SYS", 0)[:-1])
    (system / ELSEWHERE).unlink()
    if hasattr(os, "mkfifo"):
        os.mkfifo(system / ELSEWHERE)
    environment = {**os.environ, "PYTHONTZPATH": str(system)}
    command = [sys.executable, "-c", code, ZONE, ELSEWHERE]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=60)


def test_the_path_that_the_application_sets(system: Path) -> None:
    code = (
        "import sys, zoneinfo; zoneinfo.reset_tzpath([sys.argv[1]]); "
        "from geolookup.contract.tzdatabase import database, rules; "
        f"assert str(database()) == '2999a (system)'; assert rules({ZONE!r}).state(0)[2] == 'SYS'"
    )
    state(system, "2999a")
    subprocess.run([sys.executable, "-c", code, str(system)], cwd=ROOT, check=True)


def test_the_search_path_is_that_of_zoneinfo(tmp_path: Path) -> None:
    code = (
        "from geolookup.contract.tzdatabase import search_path; found = search_path(); "
        "import warnings; warnings.simplefilter('ignore'); "
        "import zoneinfo; assert found == search_path() == zoneinfo.TZPATH, found"
    )
    inherited = {name: text for name, text in os.environ.items() if name != "PYTHONTZPATH"}
    paths = ("", str(tmp_path), f"relative{os.pathsep}{tmp_path}{os.pathsep}{tmp_path}")
    for stated in ({}, *({"PYTHONTZPATH": path} for path in paths)):
        environment = {**inherited, **stated}
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True)


def test_the_compiler_knows_the_zones_that_lookups_can_answer() -> None:
    names = load_time_zones()
    assert [name for name in names if tzdatabase.rules(name) is None] == []
    assert set(names) == tzdatabase.zone_names()


def test_the_search_path_of_the_application_stays() -> None:
    code = (
        "import zoneinfo; before = zoneinfo.TZPATH; import geolookup; "
        "geolookup.lookup('8.8.8.8'); assert zoneinfo.TZPATH == before"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_opening_loads_no_zones() -> None:
    code = (
        "import sys, geolookup; geolookup.open(); "
        "assert not {'tzdata', 'zoneinfo', 'geolookup.contract.tzdatabase'} & set(sys.modules)"
    )
    environment = {name: text for name, text in os.environ.items() if name != "GEOLOOKUP_TZ"}
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=True)
