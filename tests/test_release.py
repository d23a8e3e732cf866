"""What a release needs: no placeholder, pinned actions and images, and a list of its parts."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import geolookup
from tests.conftest import ROOT

WHEELS = (ROOT / ".github/workflows/wheels.yml").read_text(encoding="utf-8")
#: A tag for readers, and the digest of all architectures.
_BASE = re.compile(r"FROM ([\w./-]+:[\w.-]+@sha256:[0-9a-f]{64})(?: AS \w+)?")
#: The files with placeholders, and those that state the version.
FILES = (
    *(".ci/release", "pyproject.toml", "README.md", "CHANGELOG.md", "geolookup/__init__.py"),
    *("docs/SECURITY.md", "docs/index.md", "docs/use/tutorial.md", "docs/data/tutorial.md"),
    *("docs/data/updating.md", "docs/operate/production.md"),
)
VERSION = geolookup.__version__
#: Each placeholder, and a text that may stand there in a release.
READY = {
    "example.org": "geolookup.test",
    "is a placeholder": "is read",
    "not in a package index yet": "in the package index",
    '"SOURCES[http]"': '"geolookup[http]"',
    "## [Unreleased]": f"## [{VERSION}] - 2026-12-01",
}


def test_the_base_of_every_image_is_pinned_by_its_digest() -> None:
    bases = set[str]()
    for path in (ROOT / "docs").rglob("Dockerfile*"):
        lines = re.findall(r"^FROM .+$", path.read_text(encoding="utf-8"), re.MULTILINE)
        matches = [_BASE.fullmatch(line) for line in lines]
        assert all(matches), lines
        bases |= {match[1] for match in matches if match}
    assert len(bases) == 1


def test_a_release_is_published_with_its_checks_and_sboms_only() -> None:
    assert "needs: [sdist, wheels, sbom]" in WHEELS
    assert 'run: bash .ci/release "${GITHUB_REF_NAME#v}"' in WHEELS
    for text in ("cyclonedx-py environment", "image: geolookup", "pattern: dist-*"):
        assert text in WHEELS, text
    uploaded = re.findall(r"upload-artifact@.+\n +with:\n +name: (\S+)", WHEELS)
    assert sorted(name.partition("-")[0] for name in uploaded) == ["dist", "dist", "sbom"]
    # The tools of a release are of a stated version.
    for command in re.findall(r"pip install (?!-)(.+)", WHEELS):
        assert all(re.fullmatch(r"[\w-]+==[\d.]+", name) for name in command.split()), command


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the files that a release looks at."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def checked(project: Path, version: str) -> tuple[int, list[str]]:
    """Return the exit status of the check of a release, and its lines."""
    command = ["bash", str(project / ".ci/release"), version]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.stdout == ""
    return done.returncode, done.stderr.splitlines()


@pytest.mark.long
def test_a_placeholder_stops_a_release(project: Path) -> None:
    for placeholder, text in READY.items():
        status, lines = checked(project, VERSION)
        assert status == 1
        assert lines
        for name in FILES[1:]:
            content = (project / name).read_text(encoding="utf-8")
            (project / name).write_text(content.replace(placeholder, text), encoding="utf-8")
        assert len(checked(project, VERSION)[1]) < len(lines), placeholder
    assert checked(project, VERSION) == (0, [])
    reporting = project / "docs/SECURITY.md"
    content = reporting.read_text(encoding="utf-8").replace("geolookup.test", "example.org")
    reporting.write_text(content, encoding="utf-8")
    status, (line,) = checked(project, VERSION)
    assert status == 1
    assert re.fullmatch(r"docs/SECURITY.md:\d+: placeholder; write the address that .+", line)


def test_the_version_of_a_release_is_that_of_its_files(project: Path) -> None:
    _, lines = checked(project, "99.0")
    assert "geolookup/__init__.py: __version__ is not 99.0; write it, or correct the tag" in lines
    assert any(line.startswith("CHANGELOG.md: no heading '## [99.0] - DATE'") for line in lines)
    assert checked(project, "")[0] == 1
    usage = subprocess.run(
        ["bash", str(project / ".ci/release")], check=False, capture_output=True, text=True
    )
    assert (usage.returncode, usage.stderr) == (2, "usage: bash .ci/release VERSION\n")
