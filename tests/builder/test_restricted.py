"""``only``, ``families`` and ``within`` of a source: joint tables, counts, malformed values."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builder.building import fails, recipe
from tests.internals.builder import calls_check as check

ROWS = (
    "network,country_code,isp\n8.8.0.0/16,DE,a\n8.9.0.0/16,AT,b\n8.10.0.0/16,US,c\n"
    "2a00::/32,DE,d\n2a01::/32,,e\n"
)
#: Keys of a source, and the error of a build.
MALFORMED = [
    ("only = 'land=DE'", "source.only: no field 'land'"),
    ("only = 'country'", "source.only: a condition has a field, an operator and a value"),
    ("only = 'country=ZZ'", "source.only: 'ZZ' is not an ISO 3166 code of two letters"),
    ("only = 'country=Germany'", "did you mean 'DE'?"),
    ("only = 'asn=x'", "source.only: 'x' is not a network.asn"),
    ("only = 5", "source.only: a condition is a text or a mapping, not int"),
    ("only = ''", "source.only is empty"),
    ("only = { not = { not = 'country=DE' } }", 'source.only: "not" cannot contain "not"'),
    ("only = 'isp=a'\nfields = ['country']", "names network.isp, but source.fields drops it"),
    ("only = 'country=FR'", "meets only, families and within"),
    ("families = [true]", "source.families is not a list of 4 and 6"),
    ("families = []", "source.families is not a list of 4 and 6"),
    ("within = '8.8.8.8/8'", "source.within: '8.8.8.8/8' is not a network without host bits"),
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
