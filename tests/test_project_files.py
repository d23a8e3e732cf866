"""Files of the project are true; where everything is installed, no test is skipped."""

from __future__ import annotations

import ast
import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import geolookup
from tests.builder.sources.readings import one, refused
from tests.conftest import ROOT, Build
from tests.internals.archives import head
from tests.internals.builder import FORMATS, MAX_SOURCES, cloud, jsonlines
from tests.internals.contract import address
from tests.internals.files import LONGEST_RECORD
from tests.internals.filesystem import LZMA_MEMORY, limits
from tests.internals.http import HEAD_LIMIT
from tests.internals.signing import LARGEST_ENVELOPE, LARGEST_SIGNATURE, MOST_SIGNATURES, keys


def _text(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


SECURITY = _text("docs/SECURITY.md")
THREATS = [
    line.strip("| ").split(" | ")
    for line in SECURITY.partition("## Threats")[2].partition("\n## ")[0].splitlines()
    if line.startswith("| ")
]


def test_each_threat_has_its_protection_and_its_limit() -> None:
    assert THREATS[0] == ["attack", "protection", "left open"]
    assert [row for row in THREATS if len(row) != 3 or not all(row)] == []


def test_the_tests_of_each_threat_exist() -> None:
    tests = tomllib.loads(_text("tests/threats.toml"))
    assert tests
    assert all(tests.values())
    named = {tuple(name.split("::")) for names in tests.values() for name in names}
    for path in {path for path, _ in named}:
        functions = {
            node.name for node in ast.parse(_text(path)).body if isinstance(node, ast.FunctionDef)
        }
        assert {name for of, name in named if of == path} <= functions, path
    assert all(name.startswith("test_") for _, name in named)


def test_the_limits_are_the_codes() -> None:
    for text in (
        f"| {address.LONGEST} characters |",
        f"| {limits.ALLOWED_BYTES >> 20} MiB unpacked, or {limits.ALLOWED_RATIO} times",
        f"| {limits.ALLOWED_MEMBERS:,} members; ",
        f"; {limits.ALLOWED_DIRECTORY >> 20} MiB for the directory of a zip, ",
        f", {limits.ALLOWED_HEADER >> 20} MiB for a header in a tar |",
        f"| line of JSON lines, record of CSV | {jsonlines.MAX_LINE >> 20} MiB |",
        f"| `.xz` file | {LZMA_MEMORY >> 20} MiB of memory |",
        f"| {cloud.MAX_BYTES >> 20} MiB, {cloud.MAX_VALUES:,} values |",
        f"; manifest {head.LARGEST_MANIFEST >> 20} MiB |",
        f"| {LARGEST_SIGNATURE >> 10} KiB, {MOST_SIGNATURES} signatures; ",
        f"| index of a mirror | {LARGEST_ENVELOPE >> 20} MiB, {MOST_SIGNATURES} ",
        f"signatures; {keys.LARGEST_FILE >> 10} KiB |",
        f"| {HEAD_LIMIT:,} bytes, 100 headers |",
    ):
        assert text in SECURITY
    assert jsonlines.MAX_LINE == LONGEST_RECORD
    assert f"at most {MAX_SOURCES} sources" in _text("docs/reference/format.md")


CONTRIBUTING = _text("CONTRIBUTING.md")
ROWS = "cidr,iso2,town,zip,id\n8.8.8.0/24,US,Mountain View,94043,1\n1.1.1.0/24,AU,-,-,2\n"


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Register the format of the page as step 2 does; returns its code."""
    ((name, code),) = re.findall(
        r"^```python (\S+)\n(.*?)^```$", CONTRIBUTING, re.MULTILINE | re.DOTALL
    )
    path = tmp_path / name
    path.write_text(code, encoding="utf-8")
    format_ = runpy.run_path(str(path))["FORMAT"]
    monkeypatch.setitem(FORMATS, format_.name, format_)
    return str(code)


@pytest.mark.parametrize("format_", ["acme", "auto"])
def test_the_example_compiles(acme: str, build: Build, tmp_path: Path, format_: str) -> None:
    assert len(acme.splitlines()) <= 60
    dataset, report = build({"ranges.csv": ROWS}, one(format_, "ranges.csv"))
    assert report.sources[0].read == report.sources[0].used == 2
    with geolookup.open(dataset) as engine:
        fields = ("country_code", "city_name", "postal_code")
        result = engine.get_many(["8.8.8.8", "1.1.1.1"], [f"location.{name}" for name in fields])
    assert result == [("US", "Mountain View", "94043"), ("AU", None, None)]
    error = refused(tmp_path, "ranges.csv", "network,country\n", one("acme", "ranges.csv"))
    assert error.remedy == "known are places"


def test_paths_of_the_page_exist() -> None:
    code = re.sub(r"^```.*?^```$", "", CONTRIBUTING, flags=re.MULTILINE | re.DOTALL)
    paths = set(re.findall(r"`([\w./]+/[\w./]*|\w+\.(?:md|toml|py))`|\]\(([\w./]+)\)", code))
    paths = {"".join(path) for path in paths}
    assert paths
    beside = ROOT / "builder" / "geolookup_builder"
    assert [path for path in paths if not any((at / path).exists() for at in (ROOT, beside))] == []


PROJECT = tomllib.loads(_text("pyproject.toml"))["project"]
TEXTS = {
    path.name: path.read_text(encoding="utf-8")
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))
}
_PIN = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


def test_actions_are_pinned_and_jobs_have_the_least_permissions() -> None:
    assert TEXTS
    pins = set[str]()
    for name, text in TEXTS.items():
        used = re.findall(r"uses: (.+)$", text, re.MULTILINE)
        assert used, name
        assert [action for action in used if not _PIN.fullmatch(action)] == [], name
        pins.update(used)
    assert len({pin.partition("@")[0] for pin in pins}) == len(pins)
    for name, text in TEXTS.items():
        assert "\npermissions: {}\n" in text, name
        granted = re.findall(r"^      ([\w-]+): (?:read|write)\b", text, re.MULTILINE)
        assert set(granted) <= {"contents", "id-token"}, name
        assert "contents: write" not in text, name
        assert text.count("actions/checkout@") == text.count("persist-credentials: false"), name


def test_ci_checks_types_with_every_extra_and_names_tests() -> None:
    """mypy reads all sources; without a library, uses of its types are errors."""
    extras = PROJECT["optional-dependencies"]
    of_dev = ",".join(re.findall(r"geolookup\[([\w,]+)\]", str(extras["dev"])))
    assert {*of_dev.split(","), "dev", "fuzz"} == set(extras)  # mypy ignores the library of fuzz
    assert 'pip install -e ".[dev]"' in CONTRIBUTING  # .ci/run takes the line from there
    assert "'.[fuzz]'" in _text(".ci/run")
    assert "bash .ci/run lint" in TEXTS["ci.yml"]
    scripts = (f".ci/{name}" for name in ("run", "sanitize", "nightly", "versions"))
    for name in (*scripts, "tests/mutants.toml"):
        named = set(re.findall(r"\b(?:tests|geolookup|builder)/[\w/*]+(?:\.py)?", _text(name)))
        assert [item for item in named if not any(ROOT.glob(item))] == [], name


#: Tests that skip in each of the ways in which pytest skips.
SKIPPING = {
    "importorskip": "import pytest\npytest.importorskip('no_such_module')\n",
    "whole module": "import pytest\npytest.skip('none', allow_module_level=True)\n",
    "unittest": "import unittest\nraise unittest.SkipTest('none')\n",
    "mark": "import pytest\n@pytest.mark.skip\ndef test_a(): pass\n",
    "call": "import pytest\ndef test_a(): pytest.skip('none')\n",
    "expected failure": "import pytest\n@pytest.mark.xfail\ndef test_a(): assert False\n",
    "no parameters": "import pytest\n@pytest.mark.parametrize('a', [])\ndef test_a(a): pass\n",
}


def run(folder: Path, texts: dict[str, str], *options: str, **environment: str) -> tuple[int, str]:
    """pytest's exit status and output for files of these texts."""
    for name, text in texts.items():
        (folder / f"test_{name.replace(' ', '_')}.py").write_text(text, encoding="utf-8")
    plugins = ["-p", "tests.tiers", "-p", "tests.skips", "-p", "no:cacheprovider"]
    changing = {"GEOLOOKUP_NO_SKIP", "CI", "FORCE_COLOR", "PY_COLORS", "PYTEST_ADDOPTS"}
    kept = {name: value for name, value in os.environ.items() if name not in changing}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-s", "-q", "-rA", *plugins, *options],
        check=False,
        cwd=folder,
        # The plugins that happen to be installed take a second to load.
        env={**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    "options", [(), pytest.param(("-p", "xdist", "-n", "1"), marks=pytest.mark.long)]
)
def test_each_skip_fails_where_none_may_be(options: tuple[str, ...], tmp_path: Path) -> None:
    continued = "--continue-on-collection-errors"
    status, output = run(tmp_path, SKIPPING, continued, *options, GEOLOOKUP_NO_SKIP="1")
    assert status == 1, output
    assert "passed" not in output
    for way in SKIPPING:
        node = rf"test_{way.replace(' ', '_')}\.py(?:::test_a)?"
        assert re.search(rf"^(?:FAILED|ERROR) {node}\b", output, re.MULTILINE), way
    assert output.count("was skipped, but everything should be installed: ") >= len(SKIPPING)
