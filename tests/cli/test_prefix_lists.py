"""``geolookup prefixes`` for firewalls: the same prefixes in each syntax, names, and changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from geolookup.cli.prefixes import _NAMES
from geolookup.prefixes.syntaxes.settings import Settings
from tests.cli.program import run
from tests.conftest import Build
from tests.prefixes.syntaxes.reading import READERS

HOLDS_V4 = "network,country_code\n8.8.8.0/24,US\n9.0.0.0/15,DE\n2a00::/16,US\n"
HOLDS_MORE = "network,country_code\n8.8.8.0/25,US\n9.1.0.0/16,US\n9.0.0.0/16,DE\n2a00::/16,US\n"


def test_help_states_the_defaults_of_names() -> None:
    assert {name: default for name, _, default in _NAMES} == vars(Settings())


@pytest.mark.long
def test_changes_since_a_list_and_since_a_dataset(build: Build, tmp_path: Path) -> None:
    folders = {}
    for name, rows in (("old", HOLDS_V4), ("new", HOLDS_MORE)):
        made, _ = build({"a.csv": rows})
        folders[name] = str(made.rename(tmp_path / name))
    old, new = (
        ("prefixes", "--where", "country=US", "--dataset", each) for each in folders.values()
    )
    written = tmp_path / "list.nft"
    assert run(*old, "--format", "nft", "--output", str(written)).returncode == 0
    changes = run(*new, "--format", "nft", "--since", str(written))
    assert changes.stderr == f"geolookup: 2 added, 1 removed since {written}\n"
    whole = READERS["nft"]({}, run(*new, "--format", "nft").stdout)
    assert READERS["nft"](READERS["nft"]({}, written.read_text()), changes.stdout) == whole
    signed = run(*new, "--since", folders["old"])
    assert signed.stdout == "-8.8.8.0/24\n+8.8.8.0/25\n+9.1.0.0/16\n"
    assert signed.stderr == f"geolookup: 2 added, 1 removed since {folders['old']}\n"
    replaced = run(*new, "--since", str(written), "--output", str(written), "--force")
    assert replaced.stderr.startswith("geolookup: --output is OLD, which its changes would replace")
    same = run(*new, "--since", folders["new"], "--format", "ipset")
    assert (same.returncode, same.stdout) == (0, "")


@pytest.mark.long
def test_names_are_one_word(tmp_path: Path) -> None:
    asked = ("prefixes", "--where", "country=US", "--family", "4")
    named = run(*asked, "--format", "nft", "--name", "listed", "--table", "my-filter")
    assert named.stdout.startswith("add table inet my-filter\nadd set inet my-filter listed_v4 ")
    for option, value, message in (
        ("--name", "a; flush ruleset", "--name 'a; flush ruleset' is not a letter, then"),
        ("--name", "a\nb", r"--name 'a\\nb' is not a letter, then"),
        ("--value", "1", "--value is for nginx-geo, not for nft"),
        ("--since", str(tmp_path / "none"), "none"),
    ):
        done = run(*asked, "--format", "nft", option, value)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.long
def test_a_syntax_without_changes_says_so() -> None:
    done = run("prefixes", "--where", "country=US", "--format", "pf", "--since", "list")
    expected = "--since: pf has no form for changes; write the whole list, or use cidr"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"geolookup: {expected}\n")


@pytest.mark.long
def test_an_empty_list_replaces_no_list(tmp_path: Path) -> None:
    output = tmp_path / "list.nft"
    output.write_text("before")
    asked = ("--format", "nft", "--output", str(output), "--force", "--fail-if-empty")
    done = run("prefixes", "--where", "country=XX", *asked)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "geolookup: no prefix meets the conditions"
    assert output.read_text() == "before"
    assert list(tmp_path.iterdir()) == [output]
    assert run("prefixes", "--where", "country=US", *asked).returncode == 0
    assert "add element inet geolookup geolookup_v4" in output.read_text()
