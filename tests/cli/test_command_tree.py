"""All commands alike: each has its section and its example, and shared options are the same."""

from __future__ import annotations

import re

import click
from click.testing import CliRunner, Result

from tests.cli.command_tree import tree
from tests.cli.program import python, refusal, run
from tests.internals.cli import COMMANDS, SECTIONS, program

ALL = dict(tree())
EXAMPLES = {name: f"example: {command.example}" for name, command in ALL.items()}
COMMANDS_OF = {
    name: f"its commands are {', '.join(command.commands)}"
    for name, command in ALL.items()
    if isinstance(command, click.Group)
}


def invoke(*args: str) -> Result:
    return CliRunner().invoke(program, args, prog_name="geolookup")


def help_of(name: str) -> str:
    done = invoke(*name.split(), "--help")
    assert done.exit_code == 0, name
    return done.output


def test_every_command_has_its_section_in_the_help() -> None:
    _, _, lists = help_of("").partition("Show this message and exit.")
    helped = re.findall(r"^(?:(\w.+):|  ([a-z-]+) .+)$", lists, re.MULTILINE)
    expected = [
        entry
        for section, names in SECTIONS.items()
        for entry in ((section, ""), *(("", name) for name in names))
    ]
    assert helped == expected


def imports_of(argument: str) -> set[str]:
    """Return the modules that the program imports, but for those that Python's start imports."""
    code = (
        "import atexit, sys; before = {*sys.modules}; from geolookup.cli import main; "
        "atexit.register(lambda: print(*{*sys.modules} - before, file=sys.stderr)); main()"
    )
    return {*python(code, argument).stderr.split()}


def test_the_list_of_commands_imports_no_module_of_a_command() -> None:
    loaded = imports_of("--help")
    assert not loaded & {f"geolookup.cli.{module}" for module in COMMANDS.values()}
    assert "geolookup.contract.cleaning" not in loaded  # its patterns take long to compile


def test_an_address_without_options_imports_neither_click_nor_a_command() -> None:
    loaded = imports_of("8.8.8.8")
    assert "geolookup.cli.answers" in loaded
    late = {
        "click",
        "shutil",
        "dataclasses",
        "ipaddress",
        "sysconfig",
        "geolookup.contract.cleaning",
    }
    assert not loaded & (late | {f"geolookup.cli.{module}" for module in COMMANDS.values()})


def test_errors_of_use_are_one_line_that_ends_with_a_command() -> None:
    for args, line in (
        ("build", "build needs RECIPE and --output DIR; {build}"),
        ("build x", "build needs --output DIR; {build}"),
        ("enrich -f x", "enrich needs INPUT and --output OUTPUT; {enrich}"),
        ("diff", "diff needs OLD; {diff}"),
        ("store generations --zzz", "store generations has no option --zzz; {store generations}"),
        ("build --outptu x", "build has no option --outptu; did you mean '--output'?"),
        ("8.8.8.8 --zzz", "lookup has no option --zzz; {lookup}"),
        ("8.8.8.8 --json", "lookup has no option --json; {lookup}"),
        ("store prune --store x", "store prune has no option --store; {store prune}"),
        ("-d x lookup 8.8.8.8", "options stand after the command, as in: geolookup lookup --help"),
        ("info --keep 3", "info has no option --keep; {info}"),
        ("info 1.2.3.4 ::1", "info: too many arguments; {info}"),
        (
            "store prune --keep x",
            "store prune: --keep N: 'x' is not a valid integer range; {store prune}",
        ),
        ("diff --color x", "diff has no option --color; {diff}"),
        (
            "accounts plans --plans",
            "accounts plans: Option '--plans' requires an argument; {accounts plans}",
        ),
        (
            "accounts keys revok",
            "accounts keys: no such command; its commands are create, list, revoke",
        ),
        ("lokup", "no command 'lokup'; did you mean 'lookup'?"),
        ("Prune", "no command 'Prune'; did you mean 'store prune'?"),
        ("purge", "no command 'purge'; 'geolookup --help' lists the commands"),
        ("updte", "no command 'updte'; 'geolookup --help' lists the commands"),
    ):
        assert refusal(*args.split()) == line.format_map(EXAMPLES)
    for text in ("8.8.8.8", "8.8.8.256", "2001:db8::1", "::x", "1::2"):
        for args in (
            f"store prune --keep {text}",
            f"--{text}",
            f"fields --{text}",
            f"store {text}",
            f"lookup --local-time-at {text}",
        ):
            assert text not in refusal(*args.split()).partition("; example")[0]


def test_a_wrong_option_leads_to_no_other_command() -> None:
    """Every command is called with the options that others have."""
    options = {
        name: {text for item in command.params for text in item.opts + item.secondary_opts}
        for name, command in ALL.items()
    }
    every = set().union(*options.values())
    for typed, own in options.items():
        ends = {COMMANDS_OF.get(typed), EXAMPLES[typed]}
        for option in sorted(name for name in every - own if name.startswith("--")):
            done = invoke(*typed.split(), option)
            begin = f"geolookup: {typed} has no option {option}; "
            assert (done.exit_code, done.output[: len(begin)]) == (2, begin)
            hint = done.output[len(begin) :].strip()
            assert hint in ends or {*re.findall("'(.+?)'", hint)} <= own - {"--force"}, done.output


def test_a_misspelt_command_leads_to_none_that_changes_a_store() -> None:
    for word in {name.split()[-1] for name in ALL}:
        for typed in {word[:-1], word[1:], word + word[-1], word[1] + word[0] + word[2:]} - {*ALL}:
            _, _, hint = refusal(typed).partition("did you mean ")
            assert {*re.findall("'(.+?)'", hint)} <= {*COMMANDS} - {"update"}, (typed, hint)


def test_help_and_the_version_are_also_commands() -> None:
    for name in ("", "lookup", "store", "store prune", "accounts keys list"):
        assert run("help", *name.split()).stdout == run(*name.split(), "--help").stdout
    assert run("version").stdout == run("version", "--help").stdout == run("--version").stdout
    assert "no command 'lokup'" in refusal("help", "lokup")


def test_a_command_has_few_options() -> None:
    """At most 16; a service has 20."""
    counts = {
        name: sum(isinstance(item, click.Option) for item in command.params)
        for name, command in ALL.items()
    }
    assert {name: n for name, n in counts.items() if n > (20 if name == "serve" else 16)} == {}
