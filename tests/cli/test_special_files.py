"""Where a file belongs, a FIFO, a device or a folder is refused at once, by every command.

Strategy: each input of each command. A command that waits is ended after minutes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.datasets import SMALL
from tests.internals.dataset import layout as fmt
from tests.tiers import one_of_each, scaled

pytestmark = pytest.mark.skipif(os.name != "posix", reason="FIFOs and devices are POSIX")

RECIPE = '[dataset]\nname = "x"\n'
SOURCE = '[[source]]\nformat = "csv"\npath = "{}"\n'
#: Command lines; {} is what is no file. Those in RECIPES name it in a recipe.
COMMANDS = [
    ["mirror", "unpack", "{}", "--output", "out"],
    ["enrich", "{}", "--input-format", "csv", "--output", "out.csv"],
    ["build", "{}", "--output", "out"],
    ["build", "{}.toml", "--output", "out"],
    ["build", "a.csv", "--output", "out", "--rejects", "{}"],
    ["update", "{}.toml", "--download-only"],
    ["update", "{}.toml", "--store", "store"],
    ["summarize", "{}", "--input-format", "csv"],
    ["annotate", "{}"],
    ["annotate", "{}.gz"],
    ["grep", "{}", "--where", "country=US"],
    ["score", "dataset", "--truth", "{}.csv"],
    ["diff", "dataset", "dataset", "--traffic", "{}.csv"],
    ["accounts", "plans", "--plans", "{}"],
]
#: Commands whose input may be a folder of files.
READ_FOLDERS = {"enrich", "summarize", "diff"}


def _reader(args: list[str]) -> str:
    """Return what reads the file: tables, texts, or the bytes of another format."""
    kinds = {"enrich": "table", "summarize": "table", "annotate": "text", "grep": "text"}
    return kinds.get(args[0], "bytes")


RECIPES = {
    "source": SOURCE,
    "packed": SOURCE.replace("{}", "{}.csv.gz"),
    "archive": SOURCE.replace("{}", "{}.zip"),
    "tar": SOURCE.replace("{}", "{}.tar.gz"),
    "detected": SOURCE.replace('"csv"', '"auto"'),
    "mmdb": SOURCE.replace('"csv"', '"mmdb"'),
    "countries": '[tables]\ncountries = "{}"\n' + SOURCE.replace("{}", "a.csv"),
    "key": '[[source]]\nformat = "csv"\npath = "http://localhost:9/a"\nkey_file = "{}"\n',
}
#: Files of a dataset and a store.
PARTS = {
    "lookup": fmt.MANIFEST,
    "info": fmt.MANIFEST,
    "verify": fmt.FILES[0],
    "pack": fmt.FILES[0],
    "publish": fmt.FILES[0],
    "diff": fmt.FILES[-1],
}


def refused(folder: Path, *args: str) -> str:
    """Return the message of a command that does not wait; with ``--all`` in a process."""
    done = run(*args, folder=folder, alone=bool(scaled(0, 1)))
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


def named(texts: Iterable[str]) -> str:
    """Return the name of the special file among words of a command or recipe."""
    return next(text for text in texts if "{}" in text).format("special")


@pytest.mark.parametrize("args", one_of_each(COMMANDS, _reader), ids=lambda args: str(args[0]))
def test_inputs(folder: Path, args: list[str]) -> None:
    for kind in kinds() if args[0] in READ_FOLDERS else (*kinds(), "folder"):
        make(folder / named(args), kind)
        assert refused(folder, *(argument.format("special") for argument in args)), kind


@pytest.mark.parametrize("recipe", one_of_each(RECIPES, kind=lambda _: "recipe"))
def test_files_of_a_recipe(folder: Path, recipe: str) -> None:
    text = RECIPES[recipe]
    (folder / "r.toml").write_text(RECIPE + text.format("special"), encoding="utf-8")
    for kind in kinds():
        make(folder / named(text.split('"')), kind)
        assert "special" in refused(folder, "build", "r.toml", "--output", "out")
        assert not (folder / "out").exists()


@pytest.mark.parametrize("command", one_of_each(PARTS, kind=lambda command: PARTS[command]))
def test_files_of_a_dataset(folder: Path, command: str) -> None:
    make(folder / "dataset" / PARTS[command], "fifo")
    args = {
        "lookup": ["lookup", "8.8.8.8", "--dataset", "dataset"],
        "pack": ["mirror", "pack", "dataset", "--output", "a.tar.zst"],
        "publish": ["store", "publish", "dataset", "--store", "store"],
        "verify": ["store", "verify", "dataset"],
        "diff": ["diff", "dataset", str(SMALL)],
    }.get(command, [command, "dataset"])
    assert "dataset" in refused(folder, *args)


def test_files_that_commands_keep(folder: Path) -> None:
    """The pointer of a store, accounts, and an output: replacing a device would remove it."""
    (folder / "store" / "generations").mkdir(parents=True)
    make(folder / "store" / "current", "fifo")
    assert "not a regular file" in refused(folder, "store", "generations", "store")
    make(folder / "accounts", "fifo")
    assert refused(folder, "accounts", "keys", "list", "--accounts", "sqlite:///accounts")
    make(folder / "out.csv", "/dev/null")
    args = ("enrich", "a.csv", "--ip-column", "network", "--output", "out.csv", "--force")
    assert "not a regular file" in refused(folder, *args)
    assert (folder / "out.csv").is_symlink()
