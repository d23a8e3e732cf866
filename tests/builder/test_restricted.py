"""``only``, ``families`` and ``within`` of a source: joint tables, counts, malformed values."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from geolookup_builder.calls import check

import geolookup
from tests.builder.building import fails, known, recipe
from tests.builder.sources.formats.test_maxmind import BLOCKS, EN
from tests.conftest import build_at

ROWS = (
    "network,country_code,isp\n8.8.0.0/16,DE,a\n8.9.0.0/16,AT,b\n8.10.0.0/16,US,c\n"
    "2a00::/32,DE,d\n2a01::/32,,e\n"
)
CITY = BLOCKS["city"] + "8.8.0.0/16,20,20,,0,0,,,,,\n8.9.0.0/16,12,12,,0,0,,,,,\n"
ASN = BLOCKS["asn"] + "8.8.0.0/15,64500,One\n9.9.9.0/24,64501,Two\n"
#: Keys of a source, and the error of a build.
MALFORMED = [
    ("only = 'land=DE'", "source.only: no field 'land'"),
    ("only = 'country'", "source.only: a condition has a field, an operator and a value"),
    ("only = 'country=ZZ'", "source.only: 'ZZ' is not an ISO 3166 code of two letters"),
    ("only = 'country=Germany'", "did you mean 'DE'?"),
    ("only = 'asn=x'", "source.only: 'x' is not a network.asn"),
    ("only = 5", "source.only: a condition is a text or a mapping, not int"),
    ("only = ''", "source.only is empty"),
    ("only = []", "source.only is empty"),
    ("only = { not = { not = 'country=DE' } }", 'source.only: "not" cannot contain "not"'),
    ("only = 'isp=a'\nfields = ['country']", "names network.isp, but source.fields drops it"),
    ("only = 'country=FR'", "meets only, families and within"),
    ("families = 5", "source.families is not a list of 4 and 6"),
    ("families = [true]", "source.families is not a list of 4 and 6"),
    ("families = []", "source.families is not a list of 4 and 6"),
    ("within = '8.8.8.8/8'", "source.within: '8.8.8.8/8' is not a network without host bits"),
    ("within = 8", "source.within: 8 is not a network without host bits"),
    ("within = []", "source.within is empty"),
    ("whithin = '8.0.0.0/8'", "did you mean 'within'?"),
]


@pytest.mark.parametrize(("keys", "message"), MALFORMED)
def test_a_malformed_value_is_one_line(keys: str, message: str, tmp_path: Path) -> None:
    error = fails(tmp_path, {"a.csv": ROWS}, recipe(f"path = 'a.csv'\n{keys}"), empty="")
    assert message in str(error)
    assert "\n" not in str(error)
    assert not (tmp_path / "dataset").exists()
    report = check(tmp_path / "recipe.toml")
    (problem,) = [*report.problems, *(item.problem for item in report.sources if item.problem)]
    assert message in problem.replace(f"{tmp_path}/", "")


def test_a_condition_is_on_the_joint_answer_of_all_tables(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "GeoLite2-City-Blocks-IPv4.csv": CITY,
        "GeoLite2-City-Locations-en.csv": EN,
        "GeoLite2-ASN-Blocks-IPv4.csv": ASN,
        "z.csv": "network,isp,country_code,asn\n0.0.0.0/0,below,FR,1\n",
    }
    text = recipe("path = 'z.csv'")
    source = "[[source]]\nformat = 'maxmind'\npath = 'Geo*.csv'\nonly = 'country=DE'\n"
    text = text.replace("[[source]]", f"{source}[[source]]", 1)
    dataset, report = build_at(tmp_path, files, text)
    german, swiss, elsewhere = known(dataset, "8.8.0.1", "8.9.0.1", "9.9.9.9")
    assert (german["country_code"], german["asn"], german["isp"]) == ("DE", 64500, "below")
    assert (swiss["country_code"], swiss["asn"]) == ("FR", 1)
    assert (elsewhere["country_code"], elsewhere["asn"]) == ("FR", 1)
    city, asn, _ = report.sources
    assert (city.used, city.rows_left_out, city.addresses_left_out) == (1, 1, 1 << 16)
    # One row of the ASN table is kept in part.
    assert (asn.used, asn.rows_left_out, asn.addresses_left_out) == (1, 1, (1 << 16) + 256)
    assert "  left out    1 row, 65,792 addresses by only, families or within" in asn.lines()


def test_check_counts_and_warns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(ROWS, encoding="utf-8")
    path = tmp_path / "recipe.toml"
    path.write_text(recipe("path = 'a.csv'\nonly = 'country=DE,FR'"), encoding="utf-8")
    report = check(path)
    assert not report.has_problem
    (source,) = report.sources
    assert source.tables[0].rows.rows_left_out == 3
    assert source.warnings == [
        "a.csv: no answer of this dataset has the location.country_code 'FR'"
    ]
    assert json.loads(json.dumps(source.warnings)) == source.warnings
    built = geolookup.build(path, tmp_path / "out")
    assert source.warnings[0] in built.warnings
