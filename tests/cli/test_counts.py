"""Every count that a command prints, read exactly, of one small dataset."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.program import run
from tests.tables.adapters import past_store

ROWS = (
    "network,country_code,city_name,isp\n8.8.0.0/16,DE,Berlin,a\n8.9.0.0/16,AT,Wien,b\n"
    "2a00::/32,DE,Bonn,d\nbad,DE,x,y\n9.9.9.9/8,DE,x,y\n"
)
_IPV6 = "65,536 /48 networks of IPv6"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the dataset ``d``, and its source."""
    folder = tmp_path_factory.mktemp("counts")
    (folder / "a.csv").write_text(ROWS, encoding="utf-8")
    done = run("build", "a.csv", "-o", "d", "--max-rejected", "2", folder=folder)
    assert done.returncode == 0, done.stderr
    (folder / "built.txt").write_text(done.stdout, encoding="utf-8")
    return folder


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_a_build_a_check_and_a_part(folder: Path) -> None:
    read, rejected, _, dataset, coverage, size = lines((folder / "built.txt").read_text("utf-8"))
    assert read == "a.csv: 5 rows read, 3 used"
    assert rejected == ("rejected 2 rows without a valid range (1 not an address, 1 host bits set)")
    assert dataset == (
        "dataset 4 ipv4 intervals, 3 ipv6 intervals, 3 locations, 3 networks, 2 countries, 1 zone"
    )
    assert coverage == f"coverage 131,072 addresses of IPv4, {_IPV6}: location, isp"
    assert re.fullmatch(r"[\d,]+ bytes in [\d.]+ s, generation [0-9a-f]{12}", size)
    checked = lines(run("check", "a.csv", folder=folder).stdout)
    assert "rows 5 rows read, 3 used" in checked
    assert checked[-1] == "1 problem: build would fail"
    described = lines(run("info", "d", folder=folder).stdout)
    assert f"decides 131,072 addresses of IPv4, {_IPV6}: isp, location" in described
    counts = "2 countries, 4 ipv4 intervals, 3 ipv6 intervals, 3 locations, 3 networks, 1 zone"
    assert f"counts {counts}" in described
    done = run("slice", "d", "--only", "country=DE", "-o", "part", folder=folder)
    read, skipped, _, _, location, *_ = lines(done.stdout)
    assert read == "a: 3 rows read, 2 used"
    assert skipped == "left out 1 row, 65,536 addresses by only, families or within"
    assert location == f"coverage 65,536 addresses of IPv4, {_IPV6}: location, isp"


#: Commands that print counts of one, of a sixteenth of IPv6, and of a hundred digits if added up.
_TOUR = (
    *("build one.csv -o one", "build wide.csv -o wide", "build one.csv --force -o one"),
    *("info one", "info wide", "check wide.csv --against one", "slice wide --only isp=z -o part"),
    *("diff one wide", "diff wide one --rows rows.csv", "score wide --truth wide.csv"),
    *("store publish one --store store", "store publish wide --store store"),
    *("store generations store", "store verify store", "history 3000:: -d store"),
    *("history 3000::/4 -d store", "explain 3000:: -d wide", "lookup 3000:: -d wide"),
    *("prefixes isp=z -d wide --since one", "prefixes isp=z -d wide --format csv --by isp"),
    *("enrich one.txt -o out.csv -d wide", "summarize one.txt -d wide", "map one.txt -o map.html"),
    *("grep --where isp=z one.txt -d wide", "annotate one.txt -d wide", "fields", "recipes"),
    *("export wide -o wide.mmdb", "export one --format csv -o -", "update one.csv --store store"),
    *("report wide --against one --truth one.csv -o page.html", "store prune store --keep 1"),
    *("mirror pack one -o one.tar.zst", "mirror unpack one.tar.zst -o unpacked"),
    *("accounts keys create --plan free --name x --accounts sqlite:///a.db",),
    *("accounts usage --accounts sqlite:///a.db", "accounts plans", "mirror write store -o folder"),
    *("accounts log --accounts sqlite:///a.db", "accounts keys list --accounts sqlite:///a.db"),
)
_NOUNS = (
    *("account", "address", "archive", "byte", "cell", "change", "column", "country", "day"),
    *("demand", "entry", "field", "file", "gate", "generation", "interval", "key", "layer"),
    *("line", "list", "location", "lookup", "name", "network", "number", "place", "prefix"),
    *("problem", "range", "request", "row", "second", "source", "value", "week", "word", "zone"),
)
_PLURALS = {
    re.sub("([^ae])ys$", r"\1ies", re.sub("(ss|x)s$", r"\1es", f"{noun}s")) for noun in _NOUNS
}
#: More digits than any count below 10^15 has, and a plural after one.
_LONG = re.compile(r"(?<![\w.:])\d[\d,]{20,}(?![\w:])")
_ONE = re.compile(rf"(?<![-\w.,:])1 (\w+ )?({'|'.join(_PLURALS)})\b")


@pytest.mark.parametrize("number", [10, pytest.param(len(_TOUR), marks=pytest.mark.long)])
def test_counts_of_one_and_of_ipv6(number: int, tmp_path: Path) -> None:
    one = "network,country_code,isp\n8.8.8.8/32,DE,a\n"
    (tmp_path / "one.csv").write_text(one, encoding="utf-8")
    (tmp_path / "wide.csv").write_text(f"{one}3000::/4,US,z\n", encoding="utf-8")
    (tmp_path / "one.txt").write_text("3000::\n", encoding="utf-8")
    for command in _TOUR[:number]:
        done = run(*command.split(), folder=tmp_path)
        assert done.returncode in (0, 1), (command, done.stderr)
        printed = done.stdout + done.stderr
        for page in tmp_path.glob("*.html"):
            text = re.sub(r"(?s)<(script|style).*?</\1>|<[^>]*>", " ", page.read_text("utf-8"))
            printed += text
            page.unlink()
        assert not _LONG.search(printed), (command, _LONG.findall(printed))
        assert not _ONE.search(printed), (command, _ONE.search(printed))


def test_rows_without_a_generation(tmp_path: Path) -> None:
    """Of each reason: they are neither located nor unknown."""
    rows = "2025-12-31T23:59:59Z,8.8.8.3\n,8.8.8.3\n,x\n2026-01-01T00:00:00Z,1.1.1.1\n"
    (tmp_path / "in.csv").write_text(f"t,ip\n{rows}2026-02-01T00:00:00Z,x\n", encoding="utf-8")
    store = past_store()
    args = ("in.csv", "-o", "out.csv", "--as-of", "t", "-d", str(store))
    before, without, closing = run("enrich", *args, folder=tmp_path).stderr.splitlines()
    assert before == f"1 row is before 2026-01-01T00:00:00Z, the first generation of {store}"
    assert without == "2 rows are without an instant"
    assert closing.startswith("5 rows, 0 located, 1 unknown, 1 invalid, 0 private in ")
