"""The commands as a shell runs them: output, exit status, and never a traceback."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from geolookup import Engine
from geolookup.cli import COMMANDS
from tests.cli.program import run
from tests.conftest import ROOT, Build
from tests.datasets import SMALL
from tests.tiers import few


def test_one_line_of_json_per_address_in_a_pipe() -> None:
    done = run("lookup", "8.8.8.8", "1.1.1.1")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["data"]["ip"] for answer in answers] == ["8.8.8.8", "1.1.1.1"]
    assert done.returncode == 0


def test_an_error_envelope_is_status_1_and_does_not_stop() -> None:
    done = run("lookup", "10.0.0.1", "8.8.8.8", "x")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["error_code"] for answer in answers] == [10002, None, 10001]
    assert done.returncode == 1


def test_addresses_from_standard_input() -> None:
    done = run(
        "lookup",
        text="8.8.8.8\n\n  1.1.1.1 \r\n\udcff\n".encode(errors="surrogateescape").decode("latin-1"),
    )
    assert len(done.stdout.splitlines()) == 3
    assert done.returncode == 1


def test_indent_and_compact() -> None:
    assert run("lookup", "--indent", "10.0.0.1").stdout.startswith('{\n  "success": false')
    assert run("lookup", "--compact", "10.0.0.1").stdout.startswith('{"success":false')


def test_another_dataset_by_option_and_by_environment(build: Build) -> None:
    folder, _ = build({"a.csv": "network,country_code\n8.8.8.0/24,FR\n"})
    for done in (
        run("lookup", "--dataset", str(folder), "8.8.8.8"),
        run("lookup", "8.8.8.8", env={"GEOLOOKUP_DATASET": str(folder)}),
    ):
        assert json.loads(done.stdout)["data"]["location"]["country_code"] == "FR"
        assert done.stderr == ""


@pytest.mark.parametrize(
    "args",
    [
        ("lookup", "--dataset", "/nowhere", "8.8.8.8"),
        ("lookup", "--bogus"),
        ("bogus",),
        ("info", "/nowhere"),
        ("explain",),
        ("explain", "nonsense"),
        ("explain", "10.0.0.1"),
        ("explain", "--dataset", "/nowhere", "8.8.8.8"),
        ("build", "/nowhere.toml", "--output", "x"),
        ("build", "sample_data/recipe.toml"),
        ("build", "sample_data", "--output", "/nowhere/x"),
        ("build", "sample_data/recipe.toml", "--output", "sample_data"),
        ("build", "sample_data/recipe.toml", "--output", "tests", "--force"),
        ("build", "sample_data/recipe.toml", "--output", "x", "--max-rejects", "-1"),
        ("pack", "/nowhere", "x.tar.zst"),
        ("pack", "sample_data", "x.tar.zst"),
        ("pack", "geolookup/world"),
        ("pack", "geolookup/world", "world.zip"),
        ("pack", "geolookup/world", "README.md"),
        ("mirror", "/nowhere", "x"),
        ("mirror", "geolookup/world", "x"),
        ("mirror", "geolookup/world"),
        ("mirror", "geolookup/world", "x", "--expires", "soon"),
        ("mirror", "geolookup/world", "x", "--generations", "101"),
        ("mirror", "geolookup/world", "x", "--sign", "README.md"),
        ("unpack", "/nowhere.tar.zst", "x"),
        ("unpack", "README.md", "x"),
        ("unpack", "README.md", "tests", "--force"),
    ],
)
def test_misuse_is_status_2_with_one_clear_text(args: tuple[str, ...]) -> None:
    done = run(*args)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.strip()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = run(command, "--help")
    assert f"Example: geolookup {command}" in " ".join(done.stdout.split())
    assert command in run("--help").stdout
    assert f"| `geolookup {command}` |" in (ROOT / "docs" / "commands.md").read_text("utf-8")


#: Modules of the command line that no command is in.
PARTS = {
    "__init__",
    "follow_options",
    "options",
    "first_argument",
    "address_input",
    "terminal_text",
    "text_output",
} | {f"answer_{each}" for each in ("cells", "formats", "table")}


def test_every_module_of_the_command_line_has_a_command() -> None:
    modules = {path.stem for path in (ROOT / "geolookup" / "cli").glob("*.py")}
    assert modules - PARTS == set(COMMANDS.values())


def test_build_writes_the_rejects_and_counts_them(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('network,city_name\n8.8.8.0/24,"a\nb"\nbad,c\n')
    recipe = tmp_path / "r.toml"
    recipe.write_text('[dataset]\nname = "t"\n[[source]]\nformat = "csv"\npath = "a.csv"\n')
    rejects, output = tmp_path / "rejects.csv", tmp_path / "out"
    refused = run("build", str(recipe), "--output", str(output))
    assert refused.returncode == 2
    assert "a.csv:4: not an address" in refused.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "r.toml"]
    options = ("--max-rejects", "1", "--rejects", str(rejects))
    done = run("build", str(recipe), "--output", str(output), *options)
    assert done.returncode == 0
    assert "rejected    1 rows without a valid range (1 not an address)" in done.stdout
    assert rejects.read_text().splitlines()[1:] == [
        f'{tmp_path / "a.csv"},4,not an address,"bad,c"'
    ]


def test_info_as_text_and_json() -> None:
    text, described = run("info").stdout, json.loads(run("info", "--json").stdout)
    assert described["generation"] in text
    assert "CC-BY-4.0" in text
    assert described["counts"]["ipv4_intervals"] > 500
    assert described["kernel"] == Engine.kernel
    assert f"\nkernel      {Engine.kernel}\n" in text


def test_info_on_a_damaged_list_of_credits_is_one_line(build: Build) -> None:
    dataset, _ = build({"a.csv": "network,country_code\n8.8.8.0/24,FR\n"})
    manifest = json.loads((dataset / "manifest.json").read_text())
    del manifest["credits"][0]["name"]
    (dataset / "manifest.json").write_text(json.dumps(manifest))
    for options in ((), ("--json",)):
        done = run("info", str(dataset), *options)
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert "manifest.json: the manifest is damaged; build it again" in line


def test_info_says_what_each_source_decides() -> None:
    text, described = run("info").stdout, json.loads(run("info", "--json").stdout)
    for source in described["sources"]:
        assert source["coverage"]
        for layer, known in source["coverage"].items():
            assert f"decides {layer:<16} {known['ipv4']:,} ipv4" in text


def test_explain_as_text_and_json() -> None:
    text = run("explain", "8.8.8.8").stdout
    explained = json.loads(run("explain", "8.8.8.8", "--json").stdout)
    assert text.splitlines()[0] == f"8.8.8.8 in {explained['network']}"
    for layer, decided in explained["layers"].items():
        assert f"\n  {layer:<16} " in text
        assert f"  {decided['prefix']}, {decided['same_values']}\n" in text
        assert f"  {decided['source']}, {decided['date']}, {decided['licence']}\n" in text
    assert "  location         Mountain View, California, US, America/Los_Angeles\n" in text
    assert "  asn              AS15169 Google LLC\n" in text


def test_explain_shows_the_rows_of_all_sources(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("network,isp,city_name\n8.8.8.0/24,A,\n")
    (tmp_path / "b.csv").write_text("network,isp\n9.9.9.0/24,\n8.8.0.0/16,B\n")
    recipe, output = tmp_path / "r.toml", str(tmp_path / "out")
    sources = "".join(f'[[source]]\nformat = "csv"\npath = "{name}.csv"\n' for name in "ab")
    recipe.write_text(f'[dataset]\nname = "t"\nexplain = "full"\n{sources}')
    assert run("build", str(recipe), "--output", output).returncode == 0
    text = run("explain", "--dataset", output, "8.8.8.8").stdout
    assert text.splitlines()[0] == "8.8.8.8 in 8.8.8.0/24"
    assert (
        "  isp              A\n"
        "                     8.8.8.0/24, a.csv:2 states 8.8.8.0-8.8.8.255\n"
        "                     a.csv\n"
    ) in text
    assert text.endswith(
        "rows of the sources, in order of precedence\n"
        "  a.csv, a.csv:2 states 8.8.8.0-8.8.8.255\n"
        '    isp              {"isp": "A"}\n'
        "  b.csv, b.csv:3 states 8.8.0.0-8.8.255.255\n"
        '    isp              {"isp": "B"}\n'
    )
    assert "    no values\n" in run("explain", "--dataset", output, "9.9.9.9").stdout
    explained = json.loads(run("explain", "--dataset", output, "8.8.8.8", "--json").stdout)
    assert [row["line"] for row in explained["sources"]] == [2, 3]
    assert "explains    the deciding sources and their rows\n" in run("info", output).stdout
    assert "explains    the deciding sources\n" in run("info").stdout


def test_a_closed_pipe_is_silent() -> None:
    command = f"{sys.executable} -m geolookup lookup | head -n 1"
    lines = "8.8.8.8\n" * 20_000
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        input=lines,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""


@pytest.mark.skipif(os.name != "posix", reason="the exit status is that of SIGPIPE")
@pytest.mark.parametrize(
    "args",
    few(
        [("fields",), ("--help",), ("prefixes", "--where", "country=AU"), ("lookup", "1.1.1.1")], 4
    ),
)
def test_a_closed_pipe_has_one_exit_status(args: tuple[str, ...]) -> None:
    """Whether a command flushes what it writes, or only its end does."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "geolookup", *args],
            stdout=closed,
            stderr=subprocess.PIPE,
            check=False,
            cwd=ROOT,
        )
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("command", ["info", "explain", "diff"])
def test_names_in_a_dataset_do_not_act_on_the_terminal(tmp_path: Path, command: str) -> None:
    shutil.copytree(SMALL, tmp_path / "d")
    place = tmp_path / "d" / "manifest.json"
    stated = json.loads(place.read_bytes())
    stated["name"] = "a\x1b]0;b\x07\nc"
    for source in stated["sources"]:
        source |= {"name": "s\x1b]0;b\x07\nc", "licence": "l\x1b]0;b\x07\nc"}
    place.write_text(json.dumps(stated), encoding="utf-8")
    given = {"explain": ["8.8.8.8", "--dataset"], "diff": [str(SMALL)]}.get(command, [])
    done = run(command, *given, str(tmp_path / "d"))
    assert done.returncode == 0, done.stderr
    assert "\\x1b]0;b\\x07\\nc" in done.stdout
    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout
