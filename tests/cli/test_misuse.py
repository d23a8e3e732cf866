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
    "8.8.8.8 --fields location.country_cod": "did you mean 'location.country_code'?",
    "8.8.8.8 --local-time-at soon": "--local-time-at INSTANT: not an instant; write a date such as",
    "8.8.8.8 --indent --format csv": "for json, not for csv",
    "8.8.8.8 -": "either - or addresses",
    "8.8.8.8 -d own -f own.site": "did you mean 'own.site_id'?",
    "8.8.8.8 -d data --overlay a.csv --overlay b.csv": "--overlay FILE: takes one value only;",
    "prefixes country=AT --within 8.0.0.0/8 --within 9.0.0.0/8": "--within NETWORK: takes one",
    "8.8.8.8 -d data -f own": "--fields: the dataset has no own columns; declare them",
    "8.8.8.8 -d store --as-of 8.8.8.8": "--as-of DATE: not an instant; write a date such as",
    "info data --as-of 2026-02-02": "not a store",
    "history 8.8.8.8 -d data": "keeps the generations of the past; name a store",
    # files and texts
    "enrich /nowhere.csv -o x.csv": "/nowhere.csv: cannot be read",
    "enrich a.csv -o /nowhere/x.csv": "/nowhere: no such folder",
    "enrich a.csv -o x.doc": "the suffix is not one of",
    "enrich a.csv -o x.txt": "text is read only",
    "enrich - -o x.csv": "name the format by --input-format",
    "enrich a.csv -o existing.csv": "existing.csv: exists already",
    "enrich a.csv -o a.csv --force": "a.csv: is the input",
    "enrich a.csv -o x.csv --ip-column ipp": "did you mean --ip-column 'ip'?",
    "enrich semicolons.csv -o x.csv": "is ';'; add --delimiter ';'",
    "enrich tabs.csv -o x.csv": r"is '\t'; add --input-format tsv",
    "enrich a.csv -o - -f contry": "--fields: no field 'contry'; did you mean 'country'?",
    "enrich a.csv -o x.csv -d own -f own.site": "--fields: the dataset has no column 'own.site'",
    "enrich a.csv -o x.csv --time-zone UTC": "name it by --local-time-at",
    "enrich a.csv -o x.csv --delimiter ab": "--delimiter",
    "enrich times.csv -o x.csv --as-of event_time -d store": "pass --time-zone, such as UTC",
    "enrich times.csv -o - --as-of event_tim -d store": "did you mean --as-of 'event_time'?",
    "summarize times.csv --ip-column ipp": "no column 'ipp'",
    "grep": "grep needs a condition, such as --where country=AT,DE",
    "grep --where x=1": "grep: no field 'x'",
    "grep --not country=UK": "grep: 'UK' is not an ISO 3166 code",
    "annotate --template {ip}": "--template: ip follows from the address or the time, and is not",
    "annotate --color red": "--color: 'red' is not one of 'auto', 'always', 'never'; ",
    "annotate absent": "absent",
    # prefixes and exports
    PREFIXES + "locaton.country_code=AT": "no field 'locaton.country_code'; did you mean ",
    PREFIXES + "8.8.8.8": "prefixes: a condition has a field, an operator and a value; write",
    PREFIXES + "--not asn=x": "prefixes: 'x' is not a network.asn: its values are numbers",
    PREFIXES
    + "--within 8.8.8.8/8": "prefixes: within must be a network without host bits; write it",
    PREFIXES + "--by time.abbr": "prefixes: time.abbr follows from the address or the time",
    PREFIXES + "--where=country=AT": "prefixes has no option --where; example: ",
    PREFIXES + "own.site_i=HQ -d own": "no column 'own.site_i'; did you mean 'own.site_id'?",
    "prefixes --by asn": "--by is for csv and json: cidr has no values",
    "prefixes --format nft --set 'name=a\nb'": r"name 'a\\nb' is not a letter, then",
    "prefixes --format nft --set value=1": "--set: nft has no name 'value'",
    "prefixes --format pf --since list": "--since: pf has no form for changes; write the",
    "export data -f asn -o -": "the suffix of '-' names no format; name one: mmdb, csv, ",
    "export data --format mmdb -o -": "-: mmdb cannot be written to standard output; name a",
    "export data --format csv -o existing.csv": "existing.csv: exists",
    # builds, parts and comparisons
    "build recipe.toml -o full": "full",
    "slice data --only country=Germany -o x": "did you mean 'DE'?",
    "slice data --fields land -o x": "dataset.fields: no field 'land'",
    "slice none -o x": "none",
    "diff data data --fail-if country_moved": "country_moved",
    "diff data data --traffic a.csv --traffic-count n": "'n'",
    "score data --truth truth.csv --fail-if 'km_p50 > 1'": "km_p50",
    "score data --truth truth.csv --truth-format geofed": "'geofed'",
    # archives, mirrors and stores
    "mirror pack in -o x.tar.zst": "in: ",
    "mirror pack data -o world.zip": "world.zip",
    "mirror write data -o x": "data",
    "mirror write store -o x --expires soon": "'soon'",
    "update wrld": "wrld",
    "update --if-older soon": "--if-older",
    "update --every 10": "'10' is not a time",
    "update store --limit-rate 1M": "--limit-rate is only for mirrors",
    "update ftp://example.com/x": "unknown scheme ftp",
    "store verify data --shallow": "--shallow",
    "store publish in --store store": "in: ",
    "store publish data --store in": "in",
    "store publish data --store store --since 2999-01-01": "2999-01-01",
    "store rollback store": "store",
    "store generations data": "data: no store here; name a folder made by",
    "store prune store --keep 0": "--keep",
    "store prune store --keep 3 --keep-for 1y": "--keep",
    # accounts
    "accounts keys create --plan none --name x --accounts sqlite:///a.db": "none",
    "accounts keys create --plan free --name 'a\x1b[2J' --accounts sqlite:///a.db": "name",
    CREATE + "sqlite:///no/a.db": "no",
    CREATE + "mysql://secret@x": "not the URL of a store",
    "accounts keys revoke 0123456789ab --accounts sqlite:///none.db": "none.db",
    "accounts keys revoke 0123456789ab --accounts sqlite:///accounts.db": "no key has this",
    "accounts usage --accounts redis://:secret@127.0.0.1:1/0": "redis",
    "accounts backup x --accounts redis://:secret@127.0.0.1:1/0": "Redis",
    "accounts backup accounts.db --accounts sqlite:///accounts.db --force": "itself",
    "accounts log --accounts sqlite:///none": "accounts keys create",
    "accounts plans --plans none.toml": "none.toml",
    # neither a command nor an address
    "keys": "did you mean 'mirror keys' or 'accounts keys'?",
    "existing.csv": "existing.csv -o OUTPUT'",
    "recipe.toml": "recipe.toml -o DIR'",
    "data": "data is not a command; run 'geolookup info data' or 'geolookup -d data IP'",
    "--dataset data info": "as in: geolookup info --help",
    # paths
    **dict.fromkeys(
        (
            *("explain -d /nowhere 8.8.8.8", "enrich a.csv -o x.csv -d /nowhere"),
            *("build /nowhere.toml -o x", "build recipe.toml -o /nowhere/x"),
            *("diff data data --traffic /nowhere.csv", "diff /nowhere data"),
            *("score data --truth /nowhere.csv", "mirror pack /nowhere -o x.tar.zst"),
            *("mirror unpack /nowhere.tar.zst -o x", "mirror write /nowhere -o x"),
            *("update /nowhere.toml", "update existing.csv --store /nowhere/x"),
            *("store verify /nowhere", "info /nowhere", "store publish /nowhere --store store"),
            *("store rollback /nowhere",),
        ),
        "/nowhere",
    ),
    **dict.fromkeys(
        (
            *("mirror pack data -o existing.csv", "mirror unpack existing.csv -o x"),
            *("mirror write store -o x --signing-key existing.csv",),
            *("update existing.csv --store existing.csv", "store verify existing.csv"),
        ),
        "existing.csv",
    ),
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
