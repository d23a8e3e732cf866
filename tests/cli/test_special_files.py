"""Where a file belongs, a FIFO, a device or a folder is refused at once, by every command.

Strategy: each input of each command, in a process that is killed if it waits.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from geolookup.dataset import layout as fmt
from tests.cli.program import run
from tests.datasets import SMALL

pytestmark = pytest.mark.skipif(os.name != "posix", reason="FIFOs and devices are POSIX")

RECIPE = '[dataset]\nname = "x"\n'
SOURCE = '[[source]]\nformat = "csv"\npath = "{}"\n'
#: Command lines; {} is what is no file. Those in RECIPES name it in a recipe.
COMMANDS = [
    ["unpack", "{}", "out"],
    ["enrich", "{}", "--input-format", "csv", "--output", "out.csv"],
    ["build", "{}", "--output", "out"],
    ["build", "{}.toml", "--output", "out"],
    ["build", "a.csv", "--output", "out", "--rejects", "{}"],
    ["download", "{}.toml"],
    ["update", "{}.toml", "--store", "store"],
    ["summarize", "{}", "--input-format", "csv"],
    ["annotate", "{}"],
    ["annotate", "{}.gz"],
    ["grep", "{}", "--where", "country=US"],
    ["score", "dataset", "--truth", "{}.csv"],
    ["diff", "dataset", "dataset", "--traffic", "{}.csv"],
    ["plans", "--plans", "{}"],
]
#: Commands whose input may be a folder of files.
READ_FOLDERS = {"enrich", "summarize", "diff"}
RECIPES = {
    "source": SOURCE,
    "packed": SOURCE.replace("{}", "{}.csv.gz"),
    "archive": SOURCE.replace("{}", "{}.zip"),
    "tar": SOURCE.replace("{}", "{}.tar.gz"),
    "detected": SOURCE.replace('"csv"', '"auto"'),
    "mmdb": SOURCE.replace('"csv"', '"mmdb"'),
    "countries": '[tables]\ncountries = "{}"\n' + SOURCE.replace("{}", "a.csv"),
    "stations": SOURCE.replace("{}", "a.csv") + '[enrich.weather]\nstations = "{}"\n',
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


def refused(folder: Path, args: list[str]) -> str:
    """The one line of a command that ends with 1 or 2 within a time that none of them needs."""
    done = run(*args, folder=folder)
    assert done.returncode in (1, 2), done
    return done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(SMALL, tmp_path / "dataset")
    (tmp_path / "a.csv").write_text("network,isp\n8.8.8.0/24,x\n", encoding="utf-8")
    return tmp_path


def make(path: Path, kind: str) -> None:
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(kind)


def check(folder: Path, kind: str, args: list[str]) -> None:
    named = next(each for each in args if "{}" in each).format("special")
    make(folder / named, kind)
    assert refused(folder, [each.format("special") for each in args])


def some(every: Iterable[Any], few: int) -> list[Any]:
    """The first of them in each run, the others in the long one."""
    marks = [()] * few + [(pytest.mark.long,)] * len(list(every))
    return [pytest.param(each, marks=mark) for each, mark in zip(every, marks, strict=False)]


@pytest.mark.parametrize("args", some(COMMANDS, 2), ids=lambda args: str(args[0]))
@pytest.mark.parametrize("kind", some(["fifo", "/dev/zero"], 1))
def test_inputs(folder: Path, args: list[str], kind: str) -> None:
    check(folder, kind, args)


@pytest.mark.long
@pytest.mark.parametrize(
    "args",
    [args for args in COMMANDS if args[0] not in READ_FOLDERS],
    ids=lambda args: str(args[0]),
)
def test_folders(folder: Path, args: list[str]) -> None:
    check(folder, "folder", args)


@pytest.mark.parametrize("what", some(RECIPES, 1))
@pytest.mark.parametrize("kind", some(["fifo", "/dev/zero"], 1))
def test_files_of_a_recipe(folder: Path, what: str, kind: str) -> None:
    text = RECIPES[what]
    named = next(part for part in text.split('"') if "{}" in part).format("special")
    make(folder / named, kind)
    (folder / "r.toml").write_text(RECIPE + text.format("special"), encoding="utf-8")
    assert "special" in refused(folder, ["build", "r.toml", "--output", "out"])
    assert not (folder / "out").exists()


@pytest.mark.parametrize("command", some(PARTS, 1))
def test_files_of_a_dataset(folder: Path, command: str) -> None:
    path = folder / "dataset" / PARTS[command]
    path.unlink()
    os.mkfifo(path)
    args = {
        "lookup": ["lookup", "8.8.8.8", "--dataset", "dataset"],
        "pack": ["pack", "dataset", "a.tar.zst"],
        "publish": ["publish", "dataset", "store"],
        "diff": ["diff", "dataset", str(SMALL)],
    }.get(command, [command, "dataset"])
    assert "dataset" in refused(folder, args)


def test_the_pointer_of_a_store(folder: Path) -> None:
    (folder / "store" / "generations").mkdir(parents=True)
    os.mkfifo(folder / "store" / "current")
    assert "not a regular file" in refused(folder, ["generations", "store"])


def test_an_accounts_file(folder: Path) -> None:
    os.mkfifo(folder / "accounts")
    assert refused(folder, ["keys", "list", "--accounts", "sqlite:///accounts"])


def test_an_output_that_is_a_device(folder: Path) -> None:
    """Replacing it by a file would remove it."""
    (folder / "out.csv").symlink_to("/dev/null")
    args = ["enrich", "a.csv", "--ip-column", "network", "--output", "out.csv", "--force"]
    assert "not a regular file" in refused(folder, args)
    assert (folder / "out.csv").is_symlink()
