"""All commands alike: each has its section and its example, and shared options are the same."""

from __future__ import annotations

import re

from click.testing import CliRunner, Result

from docs._site.commands import lists as command_lists
from tests.cli.program import python, refusal
from tests.conftest import ROOT
from tests.internals.cli import COMMANDS, SECTIONS, load, program

#: Modules of the command line that no command is in.
PARTS = {
    *("key_options", "table_options"),
    *("__init__", "answers", "command", "conditions", "first_argument", "misuse", "options"),
    *("program", "quantities", "registry", "repeating", "unknown_option"),
    *("address_input", "answer_formats", "answer_table", "terminal_text"),
}


def invoke(*args: str) -> Result:
    return CliRunner().invoke(program, args, prog_name="geolookup")


def help_of(name: str) -> str:
    done = invoke(*name.split(), "--help")
    assert done.exit_code == 0, name
    return done.output


def test_every_command_has_its_section_in_the_help_and_on_the_page() -> None:
    page = "\n".join(command_lists())
    listed = re.findall(r"^(?:## (.+)|\| \[`([\w-]+)`\]\(\2\.md\) \|)", page, re.MULTILINE)
    _, _, lists = help_of("").partition("Show this message and exit.")
    helped = re.findall(r"^(?:(\w.+):|  ([a-z-]+) .+)$", lists, re.MULTILINE)
    expected = [
        entry
        for section, names in SECTIONS.items()
        for entry in ((section, ""), *(("", name) for name in names))
    ]
    assert helped == expected
    assert listed == expected
    modules = {path.stem for path in (ROOT / "geolookup" / "cli").glob("*.py")}
    assert modules - PARTS == set(COMMANDS.values())


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


def test_errors_of_use_are_one_line_that_ends_with_a_command() -> None:
    for args, line in (
        (["build"], "build needs RECIPE and --output DIR; example: {build}"),
        (["build", "x"], "build needs --output DIR; example: {build}"),
        (["build", "--outptu", "x"], "build has no option --outptu; did you mean '--output'?"),
        (["fields", "--zzz"], "fields has no option --zzz; example: {fields}"),
        (
            ["info", "--on-invalid"],
            "info has no option --on-invalid; try enrich; example: {enrich}",
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
        instant = ["lookup", "--local-time-at", text]
        for args in (["prune", "--keep", text], [f"--{text}"], ["fields", f"--{text}"], instant):
            assert text not in refusal(*args).partition("; example")[0]


def test_the_hint_for_an_unknown_option_is_the_option_that_is_meant_or_none() -> None:
    examples = {name: load(name).example for name in COMMANDS}
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
        ("update --once", "example: {update}"),
    ):
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
