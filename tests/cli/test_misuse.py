"""Misuse is status 2 and one line, which says what to do and repeats no address; nothing changes.

The commands run in a folder with ``data`` (a dataset), ``own`` (one with own columns), ``store``
(of one generation), ``accounts.db`` and some files.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

import geolookup
from geolookup.gate import open_accounts
from tests.cli.program import refusal
from tests.datasets import SMALL
from tests.own_sources import own_dataset

FILES = {
    "a.csv": "ip\n8.8.8.8\n10.0.0.1\n",
    "times.csv": "event_time,ip\n2026-01-05 10:00,8.8.8.3\n",
    "semicolons.csv": "id;ip\n1;10.0.0.1\n",
    "tabs.csv": "id\tip\n1\t10.0.0.1\n",
    "existing.csv": "mine",
    "truth.csv": "8.8.8.0/24,US,,Boston,\n",
    "recipe.toml": '[dataset]\nname = "a"\n[[source]]\nformat = "csv"\npath = "a.csv"\n',
    "in/a.csv": "ip\n8.8.8.8\n",
    "full/file": "",
}
PREFIXES = "prefixes --format csv "
CREATE = "accounts keys create --plan free --name x --accounts "
#: Command lines, and what their line says.
CASES = {
    # lookup, explain and history
    "lookup -d /nowhere 8.8.8.8": "/nowhere: no dataset here",
    "lookup --bogus": "lookup has no option --bogus",
    "8.8.8.8 --fields location.country_cod": "did you mean 'location.country_code'?",
    "8.8.8.8 --local-time-at soon": "--local-time-at INSTANT: not an instant; write a date such as",
    "8.8.8.8 --local-time-at 99999999999999": "--local-time-at INSTANT: not an instant; write a",
    "8.8.8.8 --indent --format csv": "for json, not for csv",
    "8.8.8.8 -": "either - or addresses",
    "8.8.8.8 -d own -f own.site": "did you mean 'own.site_id'?",
    "8.8.8.8 -d data -f own": "--fields: the dataset has no own columns; declare them",
    "8.8.8.8 -d store --as-of 8.8.8.8": "--as-of DATE: not an instant; write a date such as",
    "8.8.8.8 -d store --as-of 2026-02-01T00:00": "--as-of DATE: not an instant",
    "8.8.8.8 -d store --as-of 2020-01-01": "in force since 2",
    "info data --as-of 2026-02-02": "not a store",
    "explain": "explain needs IP",
    "explain -d /nowhere 8.8.8.8": "/nowhere: no dataset here",
    "history": "IP",
    "history 8.8.8.8 -d data": "keeps the generations of the past; name a store",
    "history 8.8.8.8 -d store -f contry": "did you mean 'country'?",
    "history 8.8.8.8 -d store -f time.abbr": "is not stored",
    # files and texts
    "enrich /nowhere.csv -o x.csv": "/nowhere.csv: cannot be read",
    "enrich a.csv -o /nowhere/x.csv": "/nowhere: no such folder",
    "enrich a.csv -o x.doc": "the suffix is not one of",
    "enrich a.csv -o x.txt": "text is read only",
    "enrich - -o x.csv": "name the format by --input-format",
    "enrich a.csv -o existing.csv": "existing.csv: exists already",
    "enrich a.csv -o a.csv --force": "a.csv: is the input",
    "enrich a.csv -o in": "suffix",
    "enrich a.csv -o x.csv --ip-column ipp": "did you mean --ip-column 'ip'?",
    "enrich semicolons.csv -o x.csv": "is ';'; add --delimiter ';'",
    "enrich tabs.csv -o x.csv": r"is '\t'; add --input-format tsv",
    "enrich a.csv -o x.csv -f location.citty": "location.citty",
    "enrich a.csv -o - -f contry": "--fields: no field 'contry'; did you mean 'country'?",
    "enrich a.csv -o x.csv -d own -f own.site": "--fields: the dataset has no column 'own.site'",
    "enrich a.csv -o x.csv --local-time-at 2026-13-01": "not an instant; write a date such as",
    "enrich a.csv -o x.csv --local-time-at when": "no column 'when'",
    "enrich a.csv -o x.csv --time-zone UTC": "name it by --local-time-at",
    "enrich a.csv -o x.csv --time-zone Mars": "not a time zone",
    "enrich a.csv -o x.csv --delimiter ab": "--delimiter",
    "enrich a.csv -o x.csv --on-invalid raise": "a.csv, row 3",
    "enrich a.csv -o x.csv -d /nowhere": "/nowhere",
    "enrich times.csv -o - --as-of event_time -d data": "not a store",
    "enrich times.csv -o x.csv --as-of event_time -d store": "pass --time-zone, such as UTC",
    "enrich times.csv -o - --as-of event_tim -d store": "did you mean --as-of 'event_time'?",
    "summarize times.csv --ip-column ipp": "no column 'ipp'",
    "summarize a.csv --by own.site -d own": "did you mean 'own.site_id'?",
    "summarize a.csv --by time.current_time": "is not stored",
    "grep": "grep needs a condition, such as --where country=AT,DE",
    "grep --where x=1": "--where: no field 'x'",
    "grep --not country=UK": "--not: 'UK' is not an ISO 3166 code",
    "annotate --template {ip}": "--template: ip follows from the address or the time, and is not",
    "annotate --color red": "--color: 'red' is not one of 'auto', 'always', 'never'; ",
    "annotate absent": "absent",
    # prefixes and exports
    PREFIXES + "locaton.country_code=AT": "no field 'locaton.country_code'; did you mean ",
    PREFIXES + "country": "prefixes: a condition has a field, an operator and a value; write",
    PREFIXES + "8.8.8.8": "prefixes: a condition has a field, an operator and a value; write",
    PREFIXES + "--not asn=x": "--not: 'x' is not a network.asn: its values are numbers",
    PREFIXES
    + "--within 8.8.8.8/8": "prefixes: within must be a network without host bits; write it",
    PREFIXES + "--by time.abbr": "prefixes: time.abbr follows from the address or the time",
    PREFIXES + "--where=country=AT": "prefixes has no option --where; example: ",
    PREFIXES + "own.site_i=HQ -d own": "no column 'own.site_i'; did you mean 'own.site_id'?",
    "prefixes --by asn": "--by is for csv and json: cidr has no values",
    "prefixes --format nft --set 'name=a; flush ruleset'": "--set: name 'a; flush ruleset' is not",
    "prefixes --format nft --set 'name=a\nb'": r"--set: name 'a\\nb' is not a letter, then",
    "prefixes --format nft --set value=1": "--set value is for nginx-geo, not for nft",
    "prefixes --format nft --since none": "none",
    "prefixes --format pf --since list": "--since: pf has no form for changes; write the",
    "export data -f asn -o -": "the suffix of '-' names no format; name one: mmdb, csv, ",
    "export data --format mmdb -o -": "-: mmdb cannot be written to standard output; name a",
    "export data --format csv -o existing.csv": "existing.csv: exists",
    # builds, parts and comparisons
    "build /nowhere.toml -o x": "/nowhere.toml",
    "build recipe.toml": "build needs --output DIR",
    "build recipe.toml -o /nowhere/x": "/nowhere",
    "build recipe.toml -o full": "full",
    "build recipe.toml -o full --force": "full",
    "build recipe.toml -o x --max-rejects -1": "--max-rejects",
    "slice data --only land=DE -o x": "source.only: no field 'land'",
    "slice data --only country=Germany -o x": "did you mean 'DE'?",
    "slice data --only country=AQ -o x": "meets only, families and within",
    "slice data --within 8.8.8.8/8 -o x": "source.within: '8.8.8.8/8' is not a network",
    "slice data --fields land -o x": "dataset.fields: no field 'land'",
    "slice none -o x": "none",
    "diff data data --fail-if country_moved": "country_moved",
    "diff data data --traffic /nowhere.csv": "/nowhere.csv",
    "diff data data --traffic a.csv --traffic-count n": "'n'",
    "diff data data --top -1": "--top",
    "diff /nowhere data": "/nowhere",
    "score data --truth truth.csv --fail-if country_agree": "country_agree",
    "score data --truth truth.csv --fail-if 'km_p50 > 1'": "km_p50",
    "score data --truth truth.csv --truth-format geofed": "'geofed'",
    "score data --truth truth.csv --truth-format addresses": "truth.csv",
    "score data --truth truth.csv --worst -1": "--worst",
    "score data --truth /nowhere.csv": "/nowhere.csv",
    "score data": "--truth",
    # archives, mirrors and stores
    "mirror pack /nowhere -o x.tar.zst": "/nowhere",
    "mirror pack in -o x.tar.zst": "in: ",
    "mirror pack data": "--output",
    "mirror pack data -o world.zip": "world.zip",
    "mirror pack data -o existing.csv": "existing.csv",
    "mirror unpack /nowhere.tar.zst -o x": "/nowhere.tar.zst",
    "mirror unpack existing.csv -o x": "existing.csv",
    "mirror unpack existing.csv -o in --force": "in",
    "mirror write /nowhere -o x": "/nowhere",
    "mirror write data -o x": "data",
    "mirror write store -o x --expires soon": "'soon'",
    "update wrld": "wrld",
    "update /nowhere.toml": "/nowhere.toml",
    "update existing.csv --store existing.csv": "existing.csv",
    "update existing.csv --store /nowhere/x": "/nowhere",
    "update --if-older soon": "--if-older",
    "update --every 10": "'10' is not a time",
    "update --every 0s": "less than 0.1s",
    "update store --limit-rate 1M": "--limit-rate is only for mirrors",
    "update ftp://example.com/x": "unknown scheme ftp",
    "mirror write store -o x --signing-key existing.csv": "existing.csv",
    "store verify /nowhere": "/nowhere",
    "store verify existing.csv": "existing.csv",
    "store verify data --shallow": "--shallow",
    "info /nowhere": "/nowhere",
    "store publish /nowhere --store store": "/nowhere",
    "store publish in --store store": "in: ",
    "store publish data --store in": "in",
    "store publish data --store own": "own",
    "store publish data --store store --since 2999-01-01": "2999-01-01",
    "store publish data --store store --since March": "--since",
    "store rollback store": "store",
    "store rollback /nowhere": "/nowhere",
    "store generations data": "data: no store here; name a folder made by",
    "store prune data": "data: no store here",
    "store prune store --keep 0": "--keep",
    "store prune store --keep 3 --keep-for 1y": "--keep",
    "store prune store --keep-for March": "March",
    # accounts
    "accounts keys create --plan none --name x --accounts sqlite:///a.db": "none",
    "accounts keys create --plan free --name ' ' --accounts sqlite:///a.db": "name",
    "accounts keys create --plan free --name 'a\x1b[2J' --accounts sqlite:///a.db": "name",
    CREATE + "sqlite:///no/a.db": "no",
    CREATE + "mysql://secret@x": "not the URL of a store",
    "accounts keys list --accounts sqlite:///none.db": "none.db",
    "accounts keys revoke 0123456789ab --accounts sqlite:///none.db": "none.db",
    "accounts keys revoke 0123456789ab --accounts sqlite:///accounts.db": "no key has this",
    "accounts usage --accounts redis://:secret@127.0.0.1:1/0": "redis",
    "accounts backup x --accounts redis://:secret@127.0.0.1:1/0": "redis",
    "accounts restore x --accounts redis://:secret@127.0.0.1:1/0": "redis",
    "accounts backup accounts.db --accounts sqlite:///accounts.db --force": "itself",
    "accounts log --accounts sqlite:///none": "accounts keys create",
    "accounts plans --plans none.toml": "none.toml",
    # neither a command nor an address
    "bogus": "'geolookup --help' lists the commands",
    "Summarise": "did you mean 'summarize'?",
    "backup": "no command 'backup'; did you mean 'accounts backup'?",
    "keys": "did you mean 'mirror keys' or 'accounts keys'?",
    "existing.csv": "existing.csv -o OUTPUT'",
    "recipe.toml": "recipe.toml -o DIR'",
    "data": "data is not a command; run 'geolookup info data' or 'geolookup -d data IP'",
    "--dataset data info": "as in: geolookup info --help",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("misuse")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    shutil.copytree(SMALL, folder / "data")
    shutil.copytree(own_dataset(), folder / "own")
    geolookup.publish(SMALL, folder / "store")
    with open_accounts(f"sqlite:///{folder}/accounts.db") as accounts:
        accounts.create_key("Acme", "free")
    return folder


def state(folder: Path) -> dict[str, int]:
    """Return the files and when they changed, but for those that readers touch."""
    parts = {part for part in folder.rglob("*") if ".db-" not in part.name and part.is_file()}
    return {str(part): part.stat().st_mtime_ns for part in parts if part.suffix != ".lock"}


@pytest.mark.parametrize(
    "line", CASES, ids=lambda line: line[:60].encode("unicode_escape").decode()
)
def test_misuse_is_one_line_and_changes_nothing(line: str, folder: Path) -> None:
    before = state(folder)
    told = refusal(*shlex.split(line), text="ip\n", folder=folder)
    assert CASES[line] in told
    assert not any(secret in told for secret in ("secret", "10.0.0.1", "\x1b"))
    assert "8.8.8.8" not in told.partition("; example")[0] or "/8" in line
    assert state(folder) == before
