"""Which conditions there are, and which values they may have."""

from __future__ import annotations

from typing import Any

import pytest

import geolookup
from tests.conftest import ROOT, Build
from tests.internals.builder import load_countries
from tests.internals.contract import ALPHA_3
from tests.internals.kernel import state_of
from tests.internals.prefixes import absent_values, conditions_of
from tests.internals.tables import row_tables

SAME: list[tuple[Any, Any]] = [
    ("location.country_code=AT,DE", {"location.country_code": ["AT", "DE"]}),
    (" country = AT , DE ", {"location.country_code": ("AT", "DE")}),
    ("city=null", {"location.city_name": None}),
    ('city="null"', {"location.city_name": "null"}),
    ('city="a, ""b""",null', {"location.city_name": ['a, "b"', None]}),
    ("asn=AS15169,13335", {"network.asn": [15169, 13335]}),
    ("asn=15169", {"network.asn": "AS15169"}),
    ("network.asn>=64512", {"network.asn>=": 64512}),
    ("asn<1e3", {"asn <": 1000.0}),
    ("city^=San,Santa", {"location.city_name^=": ["San", "Santa"]}),
    ("location.country_is_eu=true", {"location.country_is_eu": True}),
    ("location.latitude=-0.5", {"lat": -0.5}),
    ("location~48.2,16.4,50km", {"location~": (48.2, 16.4, 50)}),
    ("location ~ 48.2, 16.4, 50 km", {"location~": [48.2, 16.4, 50]}),
    ("location~-46.3,9.5,49.1,17.2", {"location~": (-46.3, 9.5, 49.1, 17.2)}),
    (["asn=1", "isp=i"], {"network.asn": 1, "network.isp": "i"}),
    ([{"asn": 1}, "isp=i"], {"network.asn": 1, "network.isp": "i"}),
    ([], {}),
    (None, {}),
]


def test_texts_and_mappings() -> None:
    for text, mapping in SAME:
        assert conditions_of(text, "grep") == conditions_of(mapping, "grep"), text
        negated = conditions_of({"not": mapping}, "grep")
        assert negated == conditions_of(text, "grep", negated=True)
        assert all(item.negated for item in negated)
        assert len(negated) == len(mapping)


NO_PLACES: list[Any] = [
    *({"location~": (1, 10**400, 2)}, {"location~": "123"}, {"location~": "1,2"}, {"location~": 5}),
    *("location~1,2,3", "location~1,2,3,4km", "location~91,2,3km", "location~1,2,-3km"),
    *("location~nan,2,3km", "location~5,2,4,3"),
]
_COUNTRY = "an ISO 3166 code of two letters;"
_CODES = (
    *(("UK", r"did you mean 'GB'\?"), ("usa", r"did you mean 'US'\?")),
    *(("\u0130", "write one such as AT or DE"), ("XX", "write one such as AT or DE")),
)
REFUSED: list[tuple[Any, str]] = [
    ("country", "a condition has a field, an operator and a value"),
    ("8.8.8.8", "a condition has a field, an operator and a value"),
    ("8.8.8.8=1", "an address is not a field"),
    ("locaton.country_code=AT", "did you mean 'location.country_code'"),
    ("location=AT", "location is a group; name one of its members: continent, "),
    ("time.abbr=CET", "time.abbr follows from the address or the time"),
    ("error_code=1", "no field 'error_code'"),
    ("country=", "a value is missing"),
    ("country=AT,,DE", "a value is missing"),
    ('country="AT', "a value is missing or has a stray quote"),
    ('country=A"T', "a value is missing or has a stray quote"),
    ("asn=x", "'x' is not a network.asn: its values are numbers from 1 to 4294967295"),
    ("asn=-1", "-1' is not a network.asn: its values are numbers from 1 to 4294967295"),
    ("asn=0", "'0' is not a network.asn: its values are numbers from 1 to 4294967295"),
    ("asn=4294967296", "'4294967296' is not a network.asn"),
    ("asn=8.8.8.8", "an address is not a network.asn"),
    (f"asn={'9' * 5000}", r"'9{59}… is not a network.asn"),
    ({"asn": 10**400}, r"10{59}… is not a network.asn"),
    ("country=\udcff", r"'\\udcff' is not a location.country_code: its values are texts"),
    ("city^=\udcff", r"\^= takes the beginning of a text"),
    ("asn=1.5", "'1.5' is not a network.asn"),
    ("lat=nan", "'nan' is not a location.latitude: its values are numbers from -90 to 90"),
    ("lat=200", "'200' is not a location.latitude"),
    ("lat>90", "no location.latitude is >90: its values are from -90 to 90"),
    ("asn<=0", "no network.asn is <=0"),
    ("asn<1", "no network.asn is <1"),
    ("asn>4294967295", "no network.asn is >4294967295"),
    ("currency=euro", "'euro' is not a currency.code: its values are ISO 4217 codes"),
    (
        "location.country_is_eu=yes",
        "'yes' is not a location.country_is_eu: its values are true or false",
    ),
    ("asn>", "a value is missing"),
    ("asn>1,2", "network.asn> takes one number"),
    ("asn>nan", "network.asn> takes one number"),
    ("country>3", "> is for numbers; the values of location.country_code are not numbers"),
    ("asn^=1", r"\^= is for texts"),
    ("city^=null", r"\^= takes the beginning of a text"),
    ("network~1,2,3km", "only location has a distance or a box"),
    ({"location.country_code": 5}, "5 is not a location.country_code: its values are texts"),
    ({"network.asn": True}, "True is not a network.asn"),
    ({"country_is_eu": {}}, "{} is not a location.country_is_eu: its values are true or false"),
    # As an allow-list of a firewall, the empty result would admit nobody.
    *[(f"country={code}", f"{code.upper()!r} is not {_COUNTRY} {hint}") for code, hint in _CODES],
    ({"country": "Germny"}, rf"'Germny' is not {_COUNTRY} did you mean 'DE'\?"),
    ("country_neighbors=AUT", rf"'AUT' is not {_COUNTRY} did you mean 'AT'\?"),
    ("iso3=AT", r"no field 'iso3'; did you mean 'country_code_iso3'\?"),
    ("country_code_iso3=AT", r"not an ISO 3166 code of three letters; did you mean 'AUT'\?"),
    ("continent=XX", "not the code of a continent; write AF, AN, AS, EU, NA, OC or SA"),
    ("user_type=hostin", r"'hostin' is not a user_type; did you mean 'hosting'\?"),
    ("connection_type=x", "'x' is not a connection_type; write one of "),
    ("time.zone=Europe/Wien", "'Europe/Wien' is not an IANA time zone; did you mean "),
    ({"not": {"not": "asn=1"}}, '"not" cannot contain "not"'),
    ({5: 5}, "a field is a text"),
    *[(where, "location~ takes a latitude") for where in NO_PLACES],
]


def test_what_is_no_condition(sample: geolookup.Engine) -> None:
    for where, message in REFUSED:
        with pytest.raises(ValueError, match=message) as caught:
            sample.prefixes(where)
        assert str(caught.value).startswith("prefixes: ")
        assert "\n" not in str(caught.value)
        assert "8.8.8.8" not in str(caught.value)
    with pytest.raises(ValueError, match="prefix_table: 'UK' is not an ISO 3166 code"):
        sample.prefix_table({"not": "country=UK"})
    wrong: Any
    for wrong in (5, b"asn=1", [5], [[]]):
        with pytest.raises(TypeError, match=r"^--where: a condition is a text or a mapping, not "):
            conditions_of(wrong, "--where")


def test_values_that_no_answer_has(sample: geolookup.Engine) -> None:
    dataset = state_of(sample).dataset
    conditions = conditions_of(
        ["country=US,AQ", "asn=15169,4294967295", "country_neighbors=aq", "country_is_eu=true"],
        "prefixes",
    )
    assert list(absent_values(row_tables(dataset), conditions)) == [
        "no answer of this dataset has the location.country_code 'AQ'",
        "no answer of this dataset has the network.asn 4294967295",
        "no answer of this dataset has the location.country_neighbors 'AQ'",
    ]
    cities = "city=8.8.8.8," + ",".join(map("Xq{}".format, range(1, 2000)))
    *_, last = lines = list(absent_values(row_tables(dataset), conditions_of(cities, "prefixes")))
    assert last == "no answer of this dataset has 1,995 more values of location.city_name"
    known = len(set(sample.prefix_table(by="city")["location_city_name"].drop_null().to_pylist()))
    assert lines[0] == (
        "no answer of this dataset has the location.city_name an address; check its spelling; "
        f"the dataset has {known} others"
    )
    assert len(lines) == 6
    close = conditions_of("country_name=Germny", "prefixes")
    assert "did you mean 'Germany'?" in next(absent_values(row_tables(dataset), close))


def test_codes_and_fixed_words_in_any_case(sample: geolookup.Engine) -> None:
    for text, values in (
        ("country=at,De", ("AT", "DE")),
        ("country_code_iso3=aut", ("AUT",)),
        ("country_neighbors=at", ("AT",)),
        ("continent=eu", ("EU",)),
        ("currency=eur", ("EUR",)),
        ("user_type=HOSTING", ("hosting",)),
        ("connection_type=corporate", ("Corporate",)),
        ("time.zone=europe/vienna", ("Europe/Vienna",)),
        ("city=vienna", ("vienna",)),
    ):
        (condition,) = conditions_of(text, "prefixes")
        assert (condition.operator, condition.values) == ("=", values), text
    assert list(sample.prefixes("country=us")) == list(sample.prefixes("country=US")) != []
    assert list(sample.prefixes("country^=u")) == list(sample.prefixes("country^=U")) != []


def test_a_dataset_may_have_codes_of_its_own(build: Build) -> None:
    """A recipe can replace the table of countries."""
    table = (ROOT / "builder/geolookup_builder/reference/countries.csv").read_text("utf-8")
    header, *rows = table.splitlines()
    austria = next(row for row in rows if ",AT,AUT," in row)
    own = austria.replace(",AT,AUT,", ",QZ,QZZ,")
    recipe = (
        '[dataset]\nname = "own"\n[tables]\ncountries = "own.csv"\n'
        '[[source]]\nformat = "csv"\npath = "a.csv"\n'
    )
    files = {"a.csv": "network,country_code\n8.8.8.0/24,QZ\n", "own.csv": f"{header}\n{own}\n"}
    with geolookup.open(build(files, recipe)[0]) as engine:
        assert [str(prefix) for prefix in engine.prefixes("country=qz")] == ["8.8.8.0/24"]
        with pytest.raises(ValueError, match=r"'QQ' is not an ISO 3166 code"):
            engine.prefixes("country=QQ")


def test_the_codes_are_those_of_the_compiler() -> None:
    countries = load_countries()
    assert {code: item.country_code_iso3 for code, item in countries.items()} == ALPHA_3
