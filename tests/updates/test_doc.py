"""docs/data/updating.md and its units: systemd reads them, and each command line is run."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import run
from tests.conftest import ROOT
from tests.updates.conftest import Publisher, is_tidy

DEPLOY = ROOT / "docs" / "deploy"
TEXT = (ROOT / "docs" / "data" / "updating.md").read_text(encoding="utf-8")


def cronjob() -> dict[str, Any]:
    yaml = pytest.importorskip("yaml")
    result: dict[str, Any] = yaml.safe_load((DEPLOY / "kubernetes-update.yaml").read_text("utf-8"))
    return result


def stated(section: str) -> list[str]:
    """The arguments of the program in a unit, a crontab or a CronJob."""
    if section == "kubernetes":
        pod = cronjob()["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        return [str(argument) for argument in container["args"]]
    unit = (DEPLOY / "geolookup-update.service").read_text(encoding="utf-8")
    program = "/opt/geolookup/bin/geolookup"
    actual = {
        "systemd": re.search(rf"^ExecStart={program} (.*)$", unit, re.MULTILINE),
        "cron": re.search(rf"^```crontab\n17 3 \* \* \* {program} (.*?) >>", TEXT, re.MULTILINE),
    }[section]
    assert actual
    return shlex.split(actual[1])


@pytest.mark.long
@pytest.mark.parametrize("section", ["systemd", "cron", "kubernetes"])
def test_the_command_lines_update(section: str, publisher: Publisher, store: Path) -> None:
    """Each is run as it stands, but for the recipe and the folders of this machine."""
    folders = {
        r"/(var/lib/geolookup|data)/store": str(store),
        r"/(var/cache/geolookup|data/cache)": str(store.parent / "cache"),
    }
    arguments = stated(section)
    for pattern, folder in folders.items():
        arguments = [re.sub(pattern, folder, argument) for argument in arguments]
    store.parent.mkdir()
    done = run(*arguments, str(publisher.recipe))
    assert (done.returncode, done.stderr) == (0, "")
    assert is_tidy(store)
    assert run(*arguments, str(publisher.recipe)).returncode == 0


def test_systemd_reads_the_units(tmp_path: Path) -> None:
    verifier = shutil.which("systemd-analyze")
    if verifier is None:
        pytest.skip("no systemd-analyze here")
    names = ("geolookup-update.service", "geolookup-update.timer", "geolookup-edge.service")
    for name in names:
        text = (DEPLOY / name).read_bytes().replace(b"/opt/geolookup/bin/geolookup", b"/bin/true")
        (tmp_path / name).write_bytes(text)
        (tmp_path / name).chmod(0o644)
    units = [str(tmp_path / name) for name in names]
    done = subprocess.run(
        [verifier, "--man=no", "verify", *units], capture_output=True, text=True, check=False
    )
    ours = [line for line in done.stderr.splitlines() if "geolookup" in line]
    assert (done.returncode, ours) == (0, [])
