"""``geolookup prefixes``, each format and its changes; ``geolookup export`` of plain files."""

from __future__ import annotations

import csv
import ipaddress
import json
import re
from itertools import chain
from pathlib import Path

import pytest

import geolookup
from tests.cli.program import refusal, refused, run
from tests.conftest import build_at
from tests.damage import limited_files
from tests.datasets import SMALL
from tests.internals.prefixes import SYNTAXES
from tests.own_sources import own_dataset

OLD = "network,country_code\n8.8.8.0/24,US\n9.0.0.0/15,DE\n2a00::/16,US\n"
NEW = "network,country_code\n8.8.8.0/25,US\n9.1.0.0/16,US\n9.0.0.0/16,DE\n2a00::/16,US\n"


def test_names_in_an_output() -> None:
    args = ("prefixes", "country=US", "--family", "4")
    named = run(*args, "--format", "nft", "--set", "name=listed", "--set", "table=my-filter")
    assert named.stdout.startswith("add table inet my-filter\nadd set inet my-filter listed_v4 ")


def test_formats_have_the_same_prefixes(sample: geolookup.Engine) -> None:
    question = ("country=US", "--not", "asn=null", "--dataset", str(sample.path))
    where = {"location.country_code": "US", "not": {"network.asn": None}}
    expected = [str(prefix) for prefix in sample.prefixes(where)]
    assert len(expected) > 10
    assert run("prefixes", *question).stdout.splitlines() == expected
    objects = json.loads(run("prefixes", *question, "--format", "json").stdout)
    assert [record["network"] for record in objects] == expected
    rows = csv.DictReader(run("prefixes", *question, "--format", "csv").stdout.splitlines())
    assert [row["network"] for row in rows] == expected
    ranges = run("prefixes", *question, "--format", "range").stdout.splitlines()
    ends = [map(ipaddress.ip_address, item.split("-")) for item in ranges]
    covered = chain.from_iterable(ipaddress.summarize_address_range(*pair) for pair in ends)
    assert [*map(str, covered)] == expected


def test_values(sample: geolookup.Engine) -> None:
    args = ("--by", "asn,network.asn_organization", "--family", "4", "--dataset", str(sample.path))
    table = sample.prefix_table(by=["network.asn", "network.asn_organization"], family=4)
    assert json.loads(run("prefixes", *args, "--format", "json").stdout) == table.to_pylist()


NOTHING = "no prefix meets the conditions; --allow-empty writes the empty list"


def test_an_empty_list_is_an_error_unless_it_is_allowed(sample: geolookup.Engine) -> None:
    """An empty allow-list of a firewall would admit nobody."""
    none = ("prefixes", "country=AQ", "--dataset", str(sample.path))
    for form in SYNTAXES:
        told = refused(*none, "--format", form, status=1).splitlines()
        assert told == [
            "geolookup: no answer of this dataset has the location.country_code 'AQ'",
            f"geolookup: {NOTHING}",
        ]
        assert run(*none, "--format", form, "--allow-empty").returncode == 0
    assert json.loads(run(*none, "--format", "json", "--allow-empty").stdout) == []
    by_asn = run(*none, "--by", "asn", "--format", "csv", "--allow-empty")
    assert by_asn.stdout == "network,network_asn\n"
    impossible = ("prefixes", "country=UK", "--allow-empty")
    assert refusal(*impossible).endswith("; did you mean 'GB'?")


def test_a_file_is_written_whole_or_not_at_all(sample: geolookup.Engine, tmp_path: Path) -> None:
    output = tmp_path / "list.txt"
    args = ("country=US", "--dataset", str(sample.path), "--output", str(output))
    assert run("prefixes", *args).returncode == 0
    before = output.read_text(encoding="utf-8")
    assert before.splitlines() == [str(prefix) for prefix in sample.prefixes("country=US")]
    assert "exists already" in run("prefixes", *args).stderr
    nothing = ("prefixes", *args, "--force", "--not", "country=US")
    assert refusal(*nothing, status=1) == NOTHING
    assert output.read_text(encoding="utf-8") == before
    assert run(*nothing, "--allow-empty").returncode == 0
    assert output.read_text(encoding="utf-8") == ""
    assert list(tmp_path.iterdir()) == [output]
    args = ("--format", "nft", "--output", str(output), "--force")
    assert run("prefixes", "country=US", *args).returncode == 0
    assert "add element inet geolookup geolookup_v4" in output.read_text(encoding="utf-8")


def test_changes_since_a_list_and_since_a_dataset(tmp_path: Path) -> None:
    folders = []
    for name, rows in (("old", OLD), ("new", NEW)):
        (tmp_path / name).mkdir()
        folders.append(str(build_at(tmp_path / name, {"a.csv": rows})[0]))
    old, new = (("prefixes", "country=US", "--dataset", folder) for folder in folders)
    written = tmp_path / "list.nft"
    assert run(*old, "--format", "nft", "--output", str(written)).returncode == 0
    changes = run(*new, "--format", "nft", "--since", str(written))
    assert changes.stderr == f"geolookup: 2 added, 1 removed since {written}\n"
    commands = re.findall(r"(\w+) element \S+ \S+ (\S+) \{([^}]*)", changes.stdout)
    assert [(verb, name, *elements.split()) for verb, name, elements in commands] == [
        ("delete", "geolookup_v4", "8.8.8.0/24,"),
        ("add", "geolookup_v4", "8.8.8.0/25,", "9.1.0.0/16,"),
    ]
    signed = run(*new, "--since", folders[0])
    assert signed.stdout == "-8.8.8.0/24\n+8.8.8.0/25\n+9.1.0.0/16\n"
    assert signed.stderr == f"geolookup: 2 added, 1 removed since {folders[0]}\n"
    replaced = refusal(*new, "--since", str(written), "--output", f"{tmp_path}/x/../list.nft")
    assert replaced.startswith("--output is OLD: the changes would replace it")
    same = run(*new, "--since", folders[1], "--format", "ipset")
    assert (same.returncode, same.stdout) == (0, "")
    own = ("prefixes", "own.site_id=HQ", "--dataset", str(own_dataset()), "--since", folders[1])
    assert refusal(*own).startswith(f"--since {own[-1]}: the dataset has no column 'own.site_id'")


EXPORT = ("export", str(SMALL), "--format")


def test_the_options_of_an_export_and_standard_output(tmp_path: Path) -> None:
    args = ("-f", "asn", "-f", "country,city", "--within", "8.8.8.0/24")
    assert run("export", str(SMALL), "-o", str(tmp_path / "a.csv"), *args).returncode == 0
    header, row = (tmp_path / "a.csv").read_text("utf-8").splitlines()
    assert header == "first,last,network_asn,location_country_code,location_city_name"
    assert row.startswith("8.8.8.0,8.8.8.255,15169,US,")
    done = run(*EXPORT, "csv", "--output", "-", *args)
    assert (done.returncode, done.stderr) == (0, "1 range\n")
    assert done.stdout == f"{header}\n{row}\n"


@pytest.mark.parametrize("name", ["csv", "parquet", "mmdb"])
def test_a_full_disk_leaves_the_old_output(name: str, tmp_path: Path) -> None:
    output = tmp_path / "out"
    command = (*EXPORT, name, "--output", str(output))
    assert run(*command).returncode == 0
    before = sorted((path, path.stat().st_ino) for path in tmp_path.rglob("*"))
    with limited_files(1 << 13):
        assert refusal(*command, "--force").startswith(str(output))
    assert sorted((path, path.stat().st_ino) for path in tmp_path.rglob("*")) == before
