"""The newer of the system's zone files and the `tzdata` package decides, for every way to ask.

Most tests let this process choose again: ``choosing``. Tests of the start of Python
begin another process.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import tzdata
from click.testing import CliRunner

from geolookup import tables
from geolookup.errors import SettingsError
from tests.cli.program import python
from tests.conftest import build_at
from tests.contract.tzif_files import choosing, written
from tests.datasets import SMALL
from tests.internals.builder import load_reference
from tests.internals.cli import info
from tests.internals.contract import Database, database, tzdatabase, zone_file, zone_names
from tests.internals.dataset import Dataset
from tests.kernel.modules import MODULES

AT = 1796083200  # 2026-12-01T00:00:00Z
ZONE, ELSEWHERE = "America/Vancouver", "America/Elsewhere"
PACKAGED = str(resources.files("tzdata"))
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


def source(zone: str = ZONE) -> str:
    """Whose file of a zone is read: "system", "package", or "" for none."""
    file = zone_file(zone)
    if file is None:
        return ""
    return "system" if file.data == SYSTEM else "package" * file.path.startswith(PACKAGED)


def test_the_newer_decides_unless_one_is_chosen(system: Path) -> None:
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
            assert source() in named, (version, wanted)


def test_a_missing_system_or_package_and_another_file_of_the_version(
    system: Path, tmp_path: Path
) -> None:
    state(system, "1999a")
    with choosing(tmp_path / "nowhere") as text:
        assert (text, source()) == (PACKAGE, "package")
    with choosing(system, package=False) as text:
        assert (text, source()) == ("1999a (system)", "system")
    with choosing(package=False) as text:
        assert (text, source()) == ("none", "")
    (system / "tzdata.zi").unlink()
    state(system, "2999b", "+VERSION", before="")  # as macOS and the BSDs
    with choosing(tmp_path / "nowhere", system) as text:  # the first folder that exists
        assert text == "2999b (system)"


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


def test_info_says_which(system: Path) -> None:
    state(system, "2999c")
    with choosing(system):
        shown, as_json = (
            CliRunner().invoke(info, [str(SMALL), *option]).output for option in ([], ["--json"])
        )
    assert "\ntime zones  2999c (system)\n" in shown
    assert json.loads(as_json)["time_zones"] == {"version": "2999c", "source": "system"}


def test_a_zone_that_one_lacks_is_read_from_the_other(system: Path) -> None:
    for version, newer in (("1999a", "package"), ("2999a", "system")):
        state(system, version)
        with choosing(system):
            assert database().source == newer
            assert source("Europe/Paris") == "package"
            assert source(ELSEWHERE) == "system"
            assert zone_file("localtime") is None


@pytest.mark.parametrize("kernel", MODULES)
def test_files_that_are_no_zones(kernel: Any, system: Path) -> None:
    """Another file, a folder, a FIFO: the other database answers, or the zone is unknown."""
    (system / ZONE).write_bytes(b"no" + SYSTEM)
    if hasattr(os, "mkfifo"):
        (system / ELSEWHERE).unlink()
        os.mkfifo(system / ELSEWHERE)
    with choosing(system, wanted="system"):
        assert source() == "package"
        assert kernel.period(ZONE, AT).offset != OFFSET
        assert kernel.period("America", AT) is None
        if hasattr(os, "mkfifo"):
            assert kernel.period(ELSEWHERE, AT) is None
        assert zone_file("America") is None
        assert zone_file(ELSEWHERE) is None or not hasattr(os, "mkfifo")


def test_the_compiler_knows_the_zones_that_lookups_can_answer() -> None:
    names = load_reference().zones
    assert len(names) > 400
    assert [name for name in names if zone_file(name) is None] == []
    assert set(names) == zone_names()


@pytest.mark.parametrize("kernel", MODULES)
def test_every_way_to_ask(kernel: Any, dataset: Path, system: Path) -> None:
    data = pa.table({"ip": ["8.8.8.8", "8.8.8.9"], "at": [AT, None]})
    for version, newer in (("1999z", "package"), ("2999a", "system")):
        state(system, version)
        with choosing(system):
            lookups, columns = kernel.Kernel(Dataset(dataset)), kernel.State(Dataset(dataset))
            time = lookups.lookup("8.8.8.8", at=AT)["data"]["time"]
            assert (time["utc_offset_seconds"] == OFFSET) is (newer == "system")
            assert json.loads(lookups.lookup_json("8.8.8.8", at=AT))["data"]["time"] == time
            options: dict[str, Any]
            for options in ({"at": AT}, {"time_column": "at"}):
                table = tables.enrich(columns, data, "time", **options)
                (row, _) = table.drop_columns(["ip", "at"]).to_pylist()
                assert row == {f"time_{name}": value for name, value in time.items()}


# Processes of their own.


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


def test_the_path_that_the_application_sets(system: Path) -> None:
    state(system, "2999a")
    code = (
        "import sys, zoneinfo; zoneinfo.reset_tzpath([sys.argv[1]]); before = zoneinfo.TZPATH; "
        "import geolookup; "
        "from geolookup.contract.tzdatabase import database, zone_file, zone_names; "
        "assert str(database()) == '2999a (system)'; "
        f"assert zone_file({ZONE!r}).path.startswith(sys.argv[1]); "
        "geolookup.lookup('8.8.8.8'); assert zoneinfo.TZPATH is before; names = zone_names(); "
        f"assert {{{ELSEWHERE!r}, 'Europe/Paris'}} <= names; "
        "assert not {'localtime', 'posixrules'} & names"
    )
    python(code, str(system))
