"""``[quality]``: a failed demand is one line and leaves the old dataset; wrong keys are errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import geolookup
from geolookup.errors import BuildError, QualityError
from tests.builder.building import recipe
from tests.cli.program import run
from tests.conftest import build_at
from tests.internals.builder import Demand, failures, load
from tests.internals.builder import demands_check as check
from tests.internals.dataset import read_manifest

ROWS = (
    "network,country_code,city_name,asn\n8.8.8.0/24,US,Mountain View,15169\n8.8.9.0/25,DE,,\n"
    "8.8.10.0,US,,\n2001:4860::/32,US,,15169\n"
)
TRUTH = "ip,country\n8.8.8.8,US\n8.8.9.1,FR\n"
FEED = "8.8.8.0/24,US,,,\n8.8.9.0/25,FR,,,\n"
FILES: dict[str, str | bytes] = {"a.csv": ROWS, "truth.csv": TRUTH, "truth.geofeed.csv": FEED}
MET = """
expect = [
    ["8.8.8.8", "country", "us"],
    ["8.8.8.0/24", "location.city_name", "Mountain View"],
    ["8.8.8.0/24", "country", ["DE", "US"]],
    ["8.8.8.0/24", "country_languages", "en"],
    ["8.8.8.0/24", "asn", "AS15169"],
    ["8.8.9.0/24", "city"],
    ["10.0.0.0/7", "country"],
    ["2001:4860::/32", "asn", 15169],
    ["2400::/6", "isp"],
]
min_coverage = { country = "0.00001%", ipv6.asn = "100%", "ipv6.country" = "99.5%" }
truth = "truth.csv"
fail_if = ["country_agree < 50%", "country_missing > 0"]
"""


def quality(text: str) -> str:
    return recipe("path = 'a.csv'") + f"[quality]\n{text}\n"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dataset of the sources; the truth and the recipes of the tests are beside it."""
    return build_at(tmp_path_factory.mktemp("quality"), FILES, recipe("path = 'a.csv'"))[0]


def checked(dataset: Path, text: str) -> list[Demand]:
    """The demands of a recipe text, on a dataset; the text is checked as a build does."""
    path = dataset.parent / "recipe.toml"
    path.write_text(text, encoding="utf-8")
    plan = load(path)
    return check(plan.quality, path, dataset, None, [])


def test_demands_that_are_met(dataset: Path, tmp_path: Path) -> None:
    _, report = build_at(tmp_path, FILES, quality(MET))
    assert len(report.quality) == 9 + 3 + 2
    assert all(demand.is_met for demand in report.quality)
    assert "quality     14 demands met" in report.lines()
    assert read_manifest(dataset).generation == report.generation


FAILED = {
    'expect = [["8.8.8.0/23", "country", ["US", "DE"]]]': (
        'expect ["8.8.8.0/23", "country", ["US", "DE"]]: found unknown at 8.8.9.128'
    ),
    'expect = [["8.0.0.0/8", "city"]]': (
        'expect ["8.0.0.0/8", "city"]: found "Mountain View" at 8.8.8.0'
    ),
    'min_coverage = { city = "1%" }': (
        'min_coverage city = "1%": found 256 of 3,702,258,689 public IPv4 addresses (0.0000%)'
    ),
    'truth = "truth.csv"\nfail_if = ["ipv4.country_wrong >= 50%"]': (
        'fail_if "ipv4.country_wrong >= 50%": found ipv4.country_wrong is 50 %'
    ),
    'truth = "*.geofeed.csv"\nfail_if = ["country_agree < 70%"]': (
        'fail_if "country_agree < 70%": found ipv4.country_agree is 66.6667 %'
    ),
}


def test_each_failure_is_one_line(dataset: Path) -> None:
    path, remedy = dataset.parent / "recipe.toml", "check the sources, or correct the demand"
    for text, problem in FAILED.items():
        (line,) = failures(checked(dataset, quality(text)), path)
        assert line == f"{path}: quality demand failed: {problem}; {remedy}"


def test_all_failures_are_listed_and_nothing_is_written(tmp_path: Path) -> None:
    """Also with --force over a dataset; a demand that is met is in the report."""
    output, _ = build_at(tmp_path, FILES, recipe("path = 'a.csv'"))
    before = {path.name: path.read_bytes() for path in output.iterdir()}
    text = (
        'expect = [["8.8.9.9", "country", "US"], ["8.8.8.8", "asn", 15169], ["8.8.8.8", "asn"]]\n'
        'min_coverage = { country = "99%" }\ntruth = "truth.csv"\nfail_if = ["country_agree < 97%"]'
    )
    with pytest.raises(QualityError) as caught:
        build_at(tmp_path, FILES, quality(text), force=True)
    error = caught.value
    assert isinstance(error, geolookup.GeoLookupError)
    assert not isinstance(error, BuildError)
    assert [line.split(": ")[2].split()[0] for line in error.problems] == [
        *("expect", "expect", "min_coverage", "fail_if")
    ]
    assert [demand.is_met for demand in error.report.quality] == [False, True, False, False, False]  # type: ignore[attr-defined]
    assert {path.name: path.read_bytes() for path in output.iterdir()} == before
    assert {path.name for path in tmp_path.iterdir()} == {*FILES, "recipe.toml", "dataset"}
    command = ("build", str(tmp_path / "recipe.toml"), "-o", str(output), "--force")
    done = run(*command, "--json")
    assert done.returncode == 1
    assert done.stderr == "".join(f"geolookup: {problem}\n" for problem in error.problems)
    assert [item["is_met"] for item in json.loads(done.stdout)["quality"]].count(False) == 4
    assert {path.name: path.read_bytes() for path in output.iterdir()} == before


WRONG = {
    "expects = 1": "unknown key quality.expects",
    'expect = "8.8.8.8"': "quality.expect is not a list",
    'expect = [["8.8.8.8"]]': 'quality.expect: malformed expectation ["8.8.8.8"]',
    'expect = [["8.8.8.1/24", "asn", 1]]': (
        'quality.expect: ["8.8.8.1/24", "asn", 1] begins with no address or network'
    ),
    'expect = [["fe80::1%eth0", "asn"]]': (
        'quality.expect: ["fe80::1%eth0", "asn"] begins with no address or network'
    ),
    'expect = [["2002:808:900::/40", "country", "DE"]]': (
        'quality.expect: ["2002:808:900::/40", "country", "DE"] has IPv4 addresses in it'
        " (mapped, 6to4 or NAT64), whose values IPv4 networks have"
    ),
    'expect = [["8.8.8.8", "contry", "US"]]': (
        'quality.expect: ["8.8.8.8", "contry", "US"]: no field \'contry\''
    ),
    'expect = [["8.8.8.8", "asn", "x"]]': (
        'quality.expect: ["8.8.8.8", "asn", "x"]: \'x\' is not a network.asn:'
        " its values are numbers from 1 to 4294967295"
    ),
    'expect = [["8.8.8.8", "city", ""]]': (
        'quality.expect: ["8.8.8.8", "city", ""] has an empty value'
    ),
    'expect = [["8.8.8.0/24", "country", ["US", "UK"]]]': (
        'quality.expect: ["8.8.8.0/24", "country", ["US", "UK"]]:'
        " 'UK' is not an ISO 3166 code of two letters"
    ),
    'min_coverage = "99%"': "quality.min_coverage is not a table",
    "min_coverage = { city = 60 }": "quality.min_coverage.city is not a percentage",
    f'min_coverage.{"a." * 3000}b = "1%"': "quality.min_coverage: no field 'a.a.a.a'",
    'min_coverage = { ipv6.cty = "60%" }': "quality.min_coverage: no field 'cty'",
    'truth = "truth.csv"': "quality.truth needs quality.fail_if",
    'truth = "https://example.com/truth.csv"\nfail_if = []': "quality.truth is an address",
    'fail_if = ["country_agree < 97%"]': "quality.fail_if needs quality.truth",
    'truth = "truth.csv"\nfail_if = ["country_moved > 1%"]': (
        "quality.fail_if: no metric 'country_moved' in gate 'country_moved > 1%'"
    ),
    'truth = "truth.csv"\nfail_if = ["km_p50 > 5"]': (
        "quality.truth: nothing to measure for gate 'km_p50 > 5';"
        " the truth states nothing that it could measure"
    ),
}


def test_wrong_demands_are_unusable_input(dataset: Path) -> None:
    for text, problem in WRONG.items():
        with pytest.raises(BuildError) as caught:
            checked(dataset, quality(text))
        assert caught.value.problem == problem
        assert caught.value.path == str(dataset.parent / "recipe.toml")
