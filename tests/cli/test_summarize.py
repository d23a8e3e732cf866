"""``geolookup summarize``: single lookups give every count."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import geolookup
from tests.cli.program import refusal, run
from tests.internals.files import KINDS

ADDRESSES = [
    *(*["8.8.8.8"] * 5, *["2001:4860:4860::8888"] * 2, "::ffff:1.1.1.1", "1.1.1.1"),
    *(*["9.9.9.9"] * 3, "192.168.1.1", "fe80::1", "nonsense", "203.0.114.1", "2a00::1"),
]


def _told(*args: str, text: str = "") -> Any:
    done = run("summarize", "--json", *args, text=text)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_counts_are_those_of_single_lookups(sample: geolookup.Engine) -> None:
    told = _told("-", "--top", "100", text="\n\n".join(ADDRESSES) + "\r\n")
    answers = [sample.lookup(address) for address in ADDRESSES]
    known: list[Any] = [answer["data"] for answer in answers if answer["success"]]
    for kind, fields in KINDS.items():
        paths = [path.split(".") for path in fields]
        things = Counter(tuple(data[of].get(member) for of, member in paths) for data in known)
        wanted = {thing: number for thing, number in things.items() if thing[0] is not None}
        top = told[kind]["top"]
        assert {tuple(entry.values())[:-1]: entry["addresses"] for entry in top} == wanted, kind
        assert [entry["addresses"] for entry in top] == sorted(wanted.values(), reverse=True)
        assert told[kind]["different"] == len(wanted)
        assert told[kind]["unknown"] == len(known) - sum(wanted.values())
    families = Counter(data["ip_type"] for data in known)
    codes = Counter(answer["error_code"] for answer in answers)
    unknown = [data for data in known if not _is_known(data)]
    assert unknown
    assert {name: told[name] for name in list(told)[:7]} == {
        "addresses": len(ADDRESSES),
        "located": len(known) - len(unknown),
        "unknown": len(unknown),
        "invalid": codes[10001],
        "private": codes[10002],
        "ipv4": families["ipv4"],
        "ipv6": families["ipv6"],
    }


def _is_known(data: Any) -> bool:
    """Say whether any member of the location or network has a value."""
    return any(value is not None for of in ("location", "network") for value in data[of].values())


def test_counts_as_a_table_and_of_nothing() -> None:
    text = "8.8.8.8:53\n[2001:4860:4860::8888]:443\n10.0.0.1, 1.1.1.1\nnonsense\n"
    told = _told("-", "--clean", text=text)
    assert (told["located"], told["ipv6"], told["invalid"]) == (3, 1, 1)
    told = refusal("summarize", "-", text=text)
    assert told.endswith("the first 4 rows hold no address in column 'ip'; pass --clean")
    assert _told("-")["countries"] == {"different": 0, "unknown": 0, "top": []}
    assert run("summarize", "-").returncode == 0
    lines = run("summarize", "-", "--top", "1", text="\n".join(ADDRESSES)).stdout.splitlines()
    words = [" ".join(line.split()) for line in lines]
    assert words[0] == "addresses 17 100.00%"
    for line in ("private 2 11.76%", "countries, 2 different", "15169, Google LLC 7 41.18%"):
        assert line in words
    assert len({len(line) for line in lines if line.endswith("%")}) == 1


def test_folders_and_files_without_names_of_columns(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("8.8.8.8\n", encoding="utf-8")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.csv").write_text("n,ip\n1,8.8.8.8\n", encoding="utf-8")
    (tmp_path / "notes.md").write_text("8.8.8.8", encoding="utf-8")
    assert _told(str(tmp_path))["addresses"] == 2
    path = tmp_path / "in.csv"
    path.write_text("address\n8.8.8.8\n", encoding="utf-8")
    assert "no column 'ip'" in refusal("summarize", str(path))
    path.write_text("8.8.8.8,x\n8.8.4.4,y\n10.0.0.1,z\n", encoding="ascii")
    told = _told(str(path), "--no-header", "--ip-column", "column1")
    assert (told["addresses"], told["located"], told["private"]) == (3, 2, 1)
