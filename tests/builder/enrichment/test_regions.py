"""Region codes from region names: how names are compared, and which of several regions it is."""

from __future__ import annotations

from pathlib import Path

from geolookup_builder.report import Filled

from geolookup.contract.names import fold
from tests.builder.enrichment.enriching import enriched
from tests.skips import needs, optional

regions = optional("geolookup_builder.enrichment.regions")
pytestmark = needs("pycountry")

ON = "region_code = true\n"


CODES = [
    ("US", "California", "CA"),
    ("US", "  CALIFORNIA ", "CA"),
    ("US", "Hawai\u2019i", "HI"),
    ("US", "Georgia", "GA"),  # a country as well, but not of this country
    ("CA", "Quebec", "QC"),
    ("CA", "Québec", "QC"),
    ("AU", "New South Wales", "NSW"),
    ("SE", "Stockholms län", "AB"),
    ("CH", "Neuchatel", "NE"),
    ("ES", "Cataluña", "CT"),
    ("ES", "Catalunya", "CT"),
    ("ES", "Comunidad de Madrid", "MD"),
    ("ES", "Madrid", "MD"),  # and not the province of that name
    ("ES", "Salamanca", "SA"),  # a province alone bears it
    ("GB", "England", "ENG"),
    ("GB", "City of Bristol", "BST"),
    ("FR", "Val-d'Oise", "95"),
    ("PL", "Łódzkie", "10"),
    ("PL", "lodzkie", "10"),
    ("US", "Nowhere", None),
    ("US", "Québec", None),
    ("US", "---", None),
    ("US", "", None),
    ("", "California", None),
    ("VA", "Rome", None),  # a country without regions
]


def test_codes_of_names(tmp_path: Path) -> None:
    rows = [f"{country},{name}" for country, name, _ in CODES]
    answers, counts = enriched(tmp_path, ON, "country_code,region_name", *rows)
    codes = [
        (*case[:2], answer.get("region_code")) for case, answer in zip(CODES, answers, strict=True)
    ]
    assert codes == CODES
    lacking = len({row for row, (_, _, code) in zip(rows, CODES, strict=True) if code is None})
    assert counts == {"region_code": Filled(len(CODES) - lacking, lacking)}
    columns = "country_code,region_code,region_name"
    answers, counts = enriched(tmp_path, ON, columns, "US,CA,Texas", "US,,Texas", "US,??,")
    assert [each["region_code"] for each in answers] == ["CA", "TX", "??"]
    assert [each.get("region_name") for each in answers] == ["Texas", "Texas", None]
    assert counts == {"region_code": Filled(1, 0)}
    answers, _ = enriched(tmp_path, ON, columns, "US,CA,California", "US,,California")
    assert answers[0] == answers[1]
    with (tmp_path / "dataset" / "manifest.json").open() as stream:
        assert '"locations": 1,' in stream.read()


NAMES = {
    "Ávila": {"avila"},
    "Catalunya [Cataluña]": {"catalunya cataluna", "catalunya", "cataluna"},
    "Madrid, Comunidad de": {"madrid comunidad de", "madrid", "comunidad de madrid"},
    "A / B": {"a b", "a", "b"},
    "Cardiff [Caerdydd GB-CRD]": {"cardiff caerdydd gb crd", "cardiff", "caerdydd"},
    "Øster (x, y)": {"oster x y", "oster", "x y", "x", "y x"},
}


def test_names_in_one_text() -> None:
    for text, names in NAMES.items():
        assert {fold(each) for each in regions.names_of(text)} == names, text
