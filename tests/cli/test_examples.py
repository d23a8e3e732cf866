"""The example in the help of each command, run in a folder that has its files."""

from __future__ import annotations

import shlex
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

import geolookup
from geolookup.gate import open_accounts
from tests.cli.command_tree import tree
from tests.cli.program import run
from tests.datasets import SMALL
from tests.internals.gate import back_up, identifier
from tests.skips import needs, optional

generate = optional("geolookup.signing.keys").generate

EXAMPLES = {name: command.example for name, command in tree() if command.example}
#: Commands that need a network, or do not end.
NOT_RUN = {"serve", "update"}
#: The files that an example writes without --output.
WRITTEN = {
    "mirror keys create": {"release.key", "release.key.pub"},
    "accounts backup": {"accounts.bak"},
}
NEEDS = {
    **dict.fromkeys(("report", "map"), needs("jinja2", "PIL", "vl_convert")),
    **dict.fromkeys(
        ("mirror sign", "mirror write", "mirror keys create", "mirror keys trust"),
        needs("cryptography"),
    ),
}
#: Those that read the bundled dataset whole, or draw.
SLOW = {"store verify", "report", "map"}
FILES = {
    "visits.csv": "ip\n8.8.8.8\n1.1.1.1\n",
    "access.log": '8.8.8.8 - - [20/Nov/2026:08:00:00 +0000] "GET / HTTP/1.1" 200 5\n',
    "feed.csv": "8.8.8.0/24,US,US-CA,Mountain View,\n",
    "offices.csv": "network,country_code\n8.8.8.0/24,US\n",
    "recipe.toml": '[dataset]\nname = "a"\n[[source]]\nformat = "csv"\npath = "offices.csv"\n',
    "plans.toml": "[plan.small]\nrate = 5\nquota = 100\n",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the input of every example."""
    folder = tmp_path_factory.mktemp("examples")
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    for name in ("mydata", "mydata-old", "mydata-new"):
        shutil.copytree(SMALL, folder / name)
    for name in ("srv/www", "etc/geolookup"):
        (folder / name).mkdir(parents=True)
    geolookup.pack(SMALL, folder / "mydata.tar.zst")
    geolookup.build(folder / "recipe.toml", folder / "offices")
    for path in (SMALL, folder / "offices"):
        geolookup.publish(path, folder / "srv" / "geo")
    with open_accounts(f"sqlite:///{folder}/accounts.db") as accounts:
        accounts.create_key("Acme", "free")
    back_up(f"sqlite:///{folder}/accounts.db", folder / "accounts.bak")
    return folder


def arguments(name: str, folder: Path) -> list[str]:
    """Return the words of an example, with absolute paths in the folder."""
    with open_accounts(f"sqlite:///{folder}/accounts.db") as accounts:
        key = identifier(accounts.keys()[0].digest)
    example = EXAMPLES[name].replace("3f9a2c61b0d4", key)
    words = [word if word[0] != "/" else f"{folder}{word}" for word in shlex.split(example)]
    assert words[0] == "geolookup"
    return words[1:]


def _marks(name: str) -> tuple[pytest.MarkDecorator, ...]:
    needed = (NEEDS[name],) if name in NEEDS else ()
    return (*needed, pytest.mark.long) if name in SLOW else needed


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=_marks(name)) for name in EXAMPLES if name not in NOT_RUN],
)
def test_the_example_of_a_command_runs(
    name: str, files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = shutil.copytree(files, tmp_path / "examples")
    if NEEDS.get(name) and name not in ("report", "map"):
        generate(folder / "release.key")
        shutil.copy2(folder / "release.key", folder / "etc" / "geolookup" / "key")
        (folder / "etc/geolookup/key").chmod(0o600)
    monkeypatch.setenv("GEOLOOKUP_STORE", str(folder / "user"))
    args = arguments(name, folder)
    written = {after for word, after in pairwise(args) if word in ("-o", "--output")}
    written |= WRITTEN.get(name, set())
    for path in map(folder.joinpath, written):
        if path.is_dir():
            shutil.rmtree(path)
        path.unlink(missing_ok=True)
    done = run(*args, folder=folder)
    assert done.returncode == 0, done
    assert not (written - {path.name for path in folder.iterdir()}) or name == "mirror write"
