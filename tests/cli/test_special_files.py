"""Where a file belongs, a FIFO, a device or a folder is refused at once, by every command.

Strategy: each input of each command. A command that waits is ended after minutes.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.cli.program import run, words
from tests.datasets import SMALL
from tests.internals.dataset import layout as fmt
from tests.tiers import one_of_each, scaled

pytestmark = pytest.mark.skipif(os.name != "posix", reason="FIFOs and devices are POSIX")

SOURCE = '[[source]]\nformat = "csv"\npath = "special"\n'
#: Command lines with the file ``special``, also with a suffix.
COMMANDS = (
    *("mirror unpack special --output out", "build special --output out"),
    *("build special.toml --output out", "build a.csv --output out --rejects special"),
    *("update special.toml --download-only", "update special.toml --store store"),
    *("annotate special", "annotate special.gz", "grep special --where country=US"),
    *("score dataset --truth special.csv", "accounts plans --plans special"),
)
#: Those whose input can be a folder of files.
READ_FOLDERS = (
    "enrich special --input-format csv --output out.csv",
    "summarize special --input-format csv",
    "diff dataset dataset --traffic special.csv",
)
RECIPES = {
    **{name: SOURCE.replace("al", f"al.{name}") for name in ("csv.gz", "zip", "tar.gz")},
    **{name: SOURCE.replace('"csv"', f'"{name}"') for name in ("csv", "auto", "mmdb")},
    "countries": '[tables]\ncountries = "special"\n' + SOURCE.replace("special", "a.csv"),
    "key": SOURCE.replace("special", "http://localhost:9/a") + 'key_file = "special"\n',
}
#: Commands, and the file of a dataset that they read.
PARTS = {
    "lookup 8.8.8.8 --dataset dataset": fmt.MANIFEST,
    "info dataset": fmt.MANIFEST,
    "store verify dataset": fmt.FILES[0],
    "mirror pack dataset --output a.tar.zst": fmt.FILES[0],
    "store publish dataset --store store": fmt.FILES[0],
    "diff dataset {small}": fmt.FILES[-1],
}


def refused(folder: Path, command: str) -> str:
    """Return the message of a command that does not wait; with ``--all`` in a process."""
    done = run(*words(command, small=SMALL), folder=folder, alone=bool(scaled(0, 1)))
    assert done.returncode in (1, 2), done
    return done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(SMALL, tmp_path / "dataset")
    (tmp_path / "a.csv").write_text("network,isp\n8.8.8.0/24,x\n", encoding="utf-8")
    return tmp_path


def make(path: Path, kind: str) -> None:
    if path.is_dir():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(kind)


def kinds() -> tuple[str, ...]:
    """Return the special files: one that is read for ever only where the process can be killed."""
    return ("fifo", "/dev/zero")[: scaled(1, 2)]


def named(text: str) -> str:
    """Return the name of the special file in a command or recipe."""
    return next(word for word in text.replace('"', " ").split() if word.startswith("special"))


@pytest.mark.parametrize(
    "command",
    one_of_each(
        (*COMMANDS, *READ_FOLDERS),
        kind=lambda line: ("diff" in line, line in READ_FOLDERS, "annotate" in line),
    ),
)
def test_inputs(folder: Path, command: str) -> None:
    for kind in kinds() if command in READ_FOLDERS else (*kinds(), "folder"):
        make(folder / named(command), kind)
        assert refused(folder, command), kind


@pytest.mark.parametrize("recipe", one_of_each(RECIPES, kind=lambda _: "recipe"))
def test_files_of_a_recipe(folder: Path, recipe: str) -> None:
    text = f'[dataset]\nname = "x"\n{RECIPES[recipe]}'
    (folder / "r.toml").write_text(text, encoding="utf-8")
    for kind in kinds():
        make(folder / named(text), kind)
        assert "special" in refused(folder, "build r.toml --output out")
        assert not (folder / "out").exists()


@pytest.mark.parametrize("command", one_of_each(PARTS, kind=lambda command: PARTS[command]))
def test_files_of_a_dataset(folder: Path, command: str) -> None:
    make(folder / "dataset" / PARTS[command], "fifo")
    assert "dataset" in refused(folder, command)


def test_files_that_commands_keep(folder: Path) -> None:
    """The pointer of a store, accounts, and an output: replacing a device would remove it."""
    (folder / "store" / "generations").mkdir(parents=True)
    make(folder / "store" / "current", "fifo")
    assert "not a regular file" in refused(folder, "store generations store")
    make(folder / "accounts", "fifo")
    assert refused(folder, "accounts keys list --accounts sqlite:///accounts")
    make(folder / "out.csv", "/dev/null")
    command = "enrich a.csv --ip-column network --output out.csv --force"
    assert "not a regular file" in refused(folder, command)
    assert (folder / "out.csv").is_symlink()
