"""``--as-of`` of every command that reads a dataset: the output is that of a full copy."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.command_tree import tree
from tests.cli.program import run
from tests.history.past import DATES, past_store
from tests.store.numbered import shared

#: In force on the second of February.
DAY, NUMBER = "2026-02-02", 1
IPS = ("8.8.8.8", "9.9.9.9", "10.0.0.1")
TRUTH = "network,country_code,city_name\n8.8.8.0/24,,Town 1\n"
#: What differs: paths and times.
_VARYING = re.compile(r"/\S+|in [0-9.]+ s|[0-9.]+ s\b")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return past_store(tmp_path_factory.mktemp("as-of") / "store")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GEOLOOKUP_CACHE", str(tmp_path / "cache"))
    (tmp_path / "in.csv").write_text("ip\n8.8.8.8\n9.9.9.9\n", encoding="utf-8")
    (tmp_path / "truth.csv").write_text(TRUTH, encoding="utf-8")
    return tmp_path


#: The arguments of each command, with DATASET for its dataset.
COMMANDS = (
    f"lookup {' '.join(IPS)} --local-time-at 0 -d DATASET",
    "enrich IN -o - --fields city,isp -d DATASET",
    "prefixes city=Town\\ 1 -d DATASET",
    pytest.param("grep --where city=Town\\ 1 IN -d DATASET", marks=pytest.mark.long),
    pytest.param("annotate IN --template {city} -d DATASET", marks=pytest.mark.long),
    pytest.param("explain 8.8.8.8 -d DATASET", marks=pytest.mark.long),
    "summarize IN --json -d DATASET",
    pytest.param("info DATASET", marks=pytest.mark.long),
    pytest.param("export DATASET --format csv -o -", marks=pytest.mark.long),
    pytest.param("score DATASET --truth TRUTH --json", marks=pytest.mark.long),
    "store verify DATASET",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_output_is_that_of_a_full_copy(command: str, store: Path, folder: Path) -> None:
    def shown(dataset: Path, *more: str) -> tuple[str, str, int]:
        places = {"DATASET": dataset, "IN": folder / "in.csv", "TRUTH": folder / "truth.csv"}
        words = re.split(r"(?<!\\) ", command)
        arguments = [str(places.get(word, word.replace("\\ ", " "))) for word in words]
        done = run(*arguments, *more)
        return _VARYING.sub("", done.stdout), _VARYING.sub("", done.stderr), done.returncode

    past, current = shown(store, "--as-of", DAY), shown(store)
    assert past == shown(shared(NUMBER))
    assert past != current


def test_every_command_that_reads_a_dataset_has_it() -> None:
    without = {
        name
        for name, command in tree()
        if any(parameter.name in ("dataset", "datasets", "old") for parameter in command.params)
        and not any("--as-of" in parameter.opts for parameter in command.params)
    }
    # They change a dataset or a store; history has all generations.
    assert without <= {"history", "store publish", "mirror sign", "update"}


def test_diff_compares_then_with_now(store: Path) -> None:
    def changes(*arguments: object) -> str:
        printed = run("diff", *map(str, arguments), "--json").stdout
        return "\n".join(line for line in printed.splitlines() if '"path":' not in line)

    assert changes(store, "--as-of", DAY) == changes(shared(NUMBER), shared(4))
    # The store that was named, not its copy in the cache.
    named = json.loads(run("diff", str(store), "--as-of", DAY, "--json").stdout)["old"]["path"]
    assert named == str(store)
    truth = ("--truth", str(store.with_name("truth.csv")))
    store.with_name("truth.csv").write_text(TRUTH, encoding="utf-8")
    scored = json.loads(run("score", str(store), "--as-of", DAY, *truth, "--json").stdout)
    assert [dataset["path"] for dataset in scored["datasets"]] == [str(store)]
    later = ("--new-as-of", DATES[2])
    assert changes(store, "--as-of", DAY, *later) == changes(shared(NUMBER), shared(2))
    assert changes(shared(0), store, *later) == changes(shared(0), shared(2))
    assert changes(store, shared(3), "--as-of", DAY) == changes(shared(NUMBER), shared(3))
