"""All commands alike: each has its section and its example, and shared options are the same."""

from __future__ import annotations

import re
from collections import defaultdict

import click
from click.testing import CliRunner, Result

from geolookup.cli.command import Group
from geolookup.cli.program import program
from geolookup.cli.registry import COMMANDS, SECTIONS, load
from tests.cli.command_tree import tree
from tests.cli.program import python, refusal


def invoke(*args: str) -> Result:
    return CliRunner().invoke(program, args, prog_name="geolookup")


def help_of(name: str) -> str:
    done = invoke(*name.split(), "--help")
    assert done.exit_code == 0, name
    return done.output


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
    late = {"click", "dataclasses", "ipaddress", "sysconfig", "geolookup.contract.cleaning"}
    assert not loaded & (late | {f"geolookup.cli.{module}" for module in COMMANDS.values()})


def test_the_help_of_every_command_begins_with_an_example() -> None:
    for name, command in tree():
        assert f"{command.example} ".startswith(f"geolookup {name.split()[0]} "), name
        lines = help_of(name).splitlines()
        assert lines[0].startswith(f"Usage: geolookup {name} "), name
        assert lines[1:4] == ["", f"  Example: {command.example}", ""], name
        assert "Example:" not in "".join(lines[4:]), name
        assert command.short_help, name


def test_errors_of_use_are_one_line_that_ends_with_a_command() -> None:
    for args, line in (
        (["build"], "build needs RECIPE and --output DIR; example: {build}"),
        (["build", "x"], "build needs --output DIR; example: {build}"),
        (["build", "--outptu", "x"], "build has no option --outptu; did you mean '--output'?"),
        (["fields", "--zzz"], "fields has no option --zzz; example: {fields}"),
        (
            ["info", "--infer-types"],
            "info has no option --infer-types; try enrich; example: {enrich}",
        ),
        (["info", "1.2.3.4", "::1"], "info: too many arguments; example: {info}"),
        (["recipes", "shwo"], "recipes: no such command; did you mean 'show'?"),
        (
            ["prune", "--keep", "few"],
            "prune: --keep N: 'few' is not a whole number; example: {prune}",
        ),
        (["lookup", "--format", "cvs"], "lookup: --format is 'cvs'; did you mean 'csv'?"),
        (["lookup", "--local-time-at"], "lookup: --local-time-at needs a value; example: {lookup}"),
        (
            ["prefixes", "--format", "nftables"],
            "prefixes: --format is 'nftables'; did you mean 'nft'?",
        ),
        (["8.8.8.8", "--asn"], "lookup has no option --asn; did you mean '--fields asn'?"),
        (["enrich", "--ip", "client"], "enrich has no option --ip; did you mean '--ip-column'?"),
        (
            ["generations", "--store", "x"],
            "generations has no option --store; write STORE without it; example: {generations}",
        ),
        (["8.8.8.8", "--json"], "lookup has no option --json; did you mean '--format json'?"),
    ):
        examples = {name: load(name).example for name in COMMANDS}
        assert refusal(*args) == line.format_map(examples)
    for text in ("8.8.8.8", "8.8.8.256", "2001:db8::1", "::x", "1::2"):
        for args in (["prune", "--keep", text], [f"--{text}"], ["fields", f"--{text}"]):
            assert text not in refusal(*args).partition("; example")[0]
        assert text not in refusal("lookup", "--local-time-at", text)


def test_the_hint_for_an_unknown_option_is_the_option_that_is_meant_or_none() -> None:
    for args, hint in (
        ("explain 8.8.8.8 --format json", "did you mean '--json'?"),
        ("summarize a.csv --format json", "did you mean '--json'?"),
        ("enrich a.csv --format csv", "did you mean '--output-format' or '--input-format'?"),
        ("serve --api-key x", "example: {serve}"),
        ("serve --key x", "did you mean '--trusted-key' or '--tls-key'?"),
        ("serve --allow-origin x", "did you mean '--cors'?"),
        ("rollback --store st", "write STORE without it; example: {rollback}"),
        ("prefixes --asn 15169", "write the condition asn=VALUE; example: {prefixes}"),
        ("grep --country AT", "write --where country=VALUE; example: {grep}"),
        ("lookup --country", "did you mean '--fields country'?"),
        ("check --rejects x", "try build; example: {build}"),
        ("follow --once", "example: {follow}"),
    ):
        examples = {name: load(name).example for name in COMMANDS}
        command, *others = args.split()
        option = next(text for text in others if text.startswith("--"))
        line = f"{command} has no option {option}; {hint}"
        assert refusal(command, *others) == line.format_map(examples)


def test_all_missing_parameters_are_named_at_once() -> None:
    for args, needs in (
        ("api-keys create", "--accounts URL, --plan NAME and --name TEXT"),
        ("api-keys create --plan free", "--accounts URL and --name TEXT"),
        ("enrich", "INPUT and --output OUTPUT"),
        ("enrich a.csv -f country,asn", "--output OUTPUT (- is standard output)"),
        ("enrich a.csv out.csv", "--output before OUTPUT"),
        ("diff", "OLD"),
    ):
        name = "api-keys create" if args.startswith("api") else args.split()[0]
        assert refusal(*args.split()).startswith(f"{name} needs {needs}; example: geolookup {name}")


def test_a_group_without_a_command_shows_its_help() -> None:
    for name, command in tree():
        if isinstance(command, Group) and not command.invoke_without_command:
            done = invoke(*name.split())
            assert done.output == help_of(name)
    assert invoke().output == help_of("")


#: Options with one name and two meanings, each as in programs that users know.
TWO_MEANINGS = {
    "expires": "a time of day ends a key, an age an index that is written again",
    "follow": "a file grows, as with tail -f; a mirror publishes",
    "name": "an account; an object of a firewall",
    "output": "FILE, DIR or PATH names what the command can write",
    "since": "prefixes of an earlier dataset are left out; a dataset of the past",
    "within": "a list is in one network; a part of a dataset can be in several",
}


def test_every_command_is_listed_once_in_the_help() -> None:
    listed = re.findall(r"^  ([a-z-]+)  ", help_of("").partition("this message")[2], re.MULTILINE)
    assert listed == [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(COMMANDS)


def test_the_same_option_is_the_same_in_every_command() -> None:
    named, helped = defaultdict(set), defaultdict(set)
    for _, command in tree():
        for option in command.params:
            if isinstance(option, click.Option) and not option.hidden:
                name = max(option.opts, key=len).removeprefix("--")
                shown = option.metavar or type(option.type).__name__
                named[name].add((tuple(option.opts), shown, option.multiple, option.is_flag))
                helped[name].add(option.help)
    several = {name for name, forms in named.items() if len(forms) > 1}
    assert several == TWO_MEANINGS.keys()
    assert not [name for name, texts in helped.items() if None in texts]


def test_short_options_are_for_the_same_option_everywhere() -> None:
    short = defaultdict(set)
    for _, command in tree():
        for option in command.params:
            for letter in (name for name in option.opts if len(name) == 2):
                short[letter].add(max(option.opts, key=len))
    assert short == {
        "-c": {"--count"}, "-d": {"--dataset"}, "-f": {"--fields"}, "-o": {"--output"},
        "-v": {"--invert-match"},
    }  # fmt: skip
