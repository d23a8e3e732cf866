"""``geolookup prefixes``: the prefixes that ``engine.prefixes`` yields, in several formats."""

from __future__ import annotations

import csv
import ipaddress
import json
from pathlib import Path

import pytest

import geolookup
from geolookup.cli.prefixes import FORMATS
from geolookup.prefixes.syntaxes import SYNTAXES
from tests.cli.program import run


def test_help_names_every_syntax() -> None:
    assert tuple(SYNTAXES) == FORMATS


@pytest.mark.long
def test_formats_have_the_same_prefixes(sample: geolookup.Engine) -> None:
    dataset = ("--dataset", str(sample.path))
    question = ("--where", "country=US", "--not", "asn=null", *dataset)
    where = {"location.country_code": "US", "not": {"network.asn": None}}
    expected = [str(each) for each in sample.prefixes(where)]
    assert len(expected) > 10
    assert run("prefixes", *question).stdout.splitlines() == expected
    objects = json.loads(run("prefixes", *question, "--format", "json").stdout)
    assert [each["network"] for each in objects] == expected
    rows = csv.DictReader(run("prefixes", *question, "--format", "csv").stdout.splitlines())
    assert [each["network"] for each in rows] == expected
    ranges = run("prefixes", *question, "--format", "range").stdout.splitlines()
    covered = [
        network
        for each in ranges
        for network in ipaddress.summarize_address_range(
            *map(ipaddress.ip_address, each.split("-"))
        )
    ]
    assert [str(each) for each in covered] == expected


@pytest.mark.long
def test_values(sample: geolookup.Engine) -> None:
    asked = ("--by", "asn,network.asn_organization", "--family", "4", "--dataset", str(sample.path))
    table = sample.prefix_table(by=["network.asn", "network.asn_organization"], family=4)
    assert json.loads(run("prefixes", *asked, "--format", "json").stdout) == table.to_pylist()
    rows = list(csv.DictReader(run("prefixes", *asked, "--format", "csv").stdout.splitlines()))
    expected = [
        {name: "" if value is None else str(value) for name, value in each.items()}
        for each in table.to_pylist()
    ]
    assert rows == expected
    refused = run("prefixes", *asked)
    assert refused.returncode == 2
    assert refused.stderr == "geolookup: --by is for csv and json: cidr has no place for values\n"


@pytest.mark.long
def test_nothing_is_found(sample: geolookup.Engine) -> None:
    asked = ("--where", "country=XX", "--dataset", str(sample.path))
    done = run("prefixes", *asked)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("geolookup: no answer has the location.country_code 'XX'")
    assert json.loads(run("prefixes", *asked, "--format", "json").stdout) == []
    assert (
        run("prefixes", *asked, "--by", "asn", "--format", "csv").stdout == "network,network_asn\n"
    )


@pytest.mark.long
def test_a_file_is_written_completely_or_not_at_all(
    sample: geolookup.Engine, tmp_path: Path
) -> None:
    output = tmp_path / "list.txt"
    asked = ("--where", "country=US", "--dataset", str(sample.path), "--output", str(output))
    assert run("prefixes", *asked).returncode == 0
    before = output.read_text()
    assert before.splitlines() == [str(each) for each in sample.prefixes("country=US")]
    assert "exists already" in run("prefixes", *asked).stderr
    assert run("prefixes", *asked, "--force", "--not", "country=US").returncode == 0
    assert output.read_text() == ""
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.long
@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--where", "locaton.country_code=AT", "did you mean 'location.country_code'?"),
        ("--where", "country", "a condition has a path, an operator and a value"),
        ("--not", "asn=x", "the values of network.asn are numbers; 'x' is none"),
        ("--within", "8.8.8.8/8", "within must be a network"),
        ("--by", "time.abbr", "time.abbr follows from the address or the time"),
    ],
)
def test_misuse_is_one_line(option: str, value: str, message: str) -> None:
    done = run("prefixes", option, value, "--format", "csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
