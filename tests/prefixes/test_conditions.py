"""Conditions as texts and as mappings say the same, and what is none is refused in one line."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup.prefixes.conditions import conditions_of
from geolookup.prefixes.predicates import InBox
from geolookup.prefixes.row_masks import absent_values, row_masks

SAME: list[tuple[Any, Any]] = [
    ("location.country_code=AT,DE", {"location.country_code": ["AT", "DE"]}),
    (" country = AT , DE ", {"location.country_code": ("AT", "DE")}),
    ("location.city=null", {"location.city_name": None}),
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
        assert conditions_of(text) == conditions_of(mapping), text
        negated = conditions_of({"not": mapping})
        assert negated == conditions_of(None, text)
        assert all(each.negated for each in negated)
        assert len(negated) == len(mapping)


NO_PLACES: list[Any] = [
    *({"location~": (1, 10**400, 2)}, {"location~": "123"}, {"location~": "1,2"}, {"location~": 5}),
    *("location~1,2,3", "location~1,2,3,4km", "location~91,2,3km", "location~1,2,-3km"),
    *("location~nan,2,3km", "location~5,2,4,3"),
]
REFUSED: list[tuple[Any, str]] = [
    ("country", "a condition has a path, an operator and a value"),
    ("8.8.8.8", "a condition has a path, an operator and a value"),
    ("8.8.8.8=1", "no field or group, but an address"),
    ("locaton.country_code=AT", "did you mean 'location.country_code'"),
    ("location=AT", "location has several members; name one"),
    ("time.abbr=CET", "time.abbr follows from the address or the time"),
    ("error_code=1", "no field or group 'error_code'"),
    ("country=", "a value is missing"),
    ("country=AT,,DE", "a value is missing"),
    ('country="AT', "a value is missing or has a stray quote"),
    ('country=A"T', "a value is missing or has a stray quote"),
    ("asn=x", "the values of network.asn are numbers; 'x' is none"),
    ("asn=-1", "the values of network.asn are numbers"),
    ("asn=4294967296", "the values of network.asn are numbers"),
    ("asn=8.8.8.8", r"the values of network.asn are numbers; \(an address\) is none"),
    (f"asn={'9' * 5000}", r"numbers; '9{59}… is none"),
    ({"asn": 10**400}, "the values of network.asn are numbers"),
    ("country=\udcff", r"are texts; '\\udcff' is none"),
    ("city^=\udcff", r"\^= takes the beginning of a text"),
    ("asn=1.5", "the values of network.asn are numbers"),
    ("location.latitude=nan", "the values of location.latitude are numbers"),
    ("location.country_is_eu=yes", "the values of location.country_is_eu are true or false"),
    ("asn>", "a value is missing"),
    ("asn>1,2", "network.asn> takes one number"),
    ("asn>nan", "network.asn> takes one number"),
    ("country>3", "> compares numbers"),
    ("asn^=1", r"\^= takes the beginning of a text"),
    ("city^=null", r"\^= takes the beginning of a text"),
    ("network~1,2,3km", "only location has a distance or a box"),
    ({"location.country_code": 5}, "the values of location.country_code are texts; 5 is none"),
    ({"network.asn": True}, "the values of network.asn are numbers; True is none"),
    ({"not": {"not": "asn=1"}}, '"not" has no "not" inside'),
    ({5: 5}, "no field or group 5"),
    *[(where, "location~ takes a latitude") for where in NO_PLACES],
]


def test_what_is_no_condition() -> None:
    for where, message in REFUSED:
        with pytest.raises(ValueError, match=message) as caught:
            conditions_of(where)
        assert "\n" not in str(caught.value)
        assert "8.8.8.8" not in str(caught.value)
    wrong: Any
    for wrong in (5, b"asn=1", [5], [[]]):
        with pytest.raises(TypeError, match="text"):
            conditions_of(wrong)


def test_rows_of_nothing_known_meet_what_asks_for_it(sample: geolookup.Engine) -> None:
    """Row 0 of both tables is that of an address about which nothing is known."""
    dataset = sample._open_state().dataset
    unknown = row_masks(dataset, conditions_of(["country=null", "asn=null"]))
    assert unknown.location[0]
    assert unknown.network[0]
    known = row_masks(dataset, conditions_of("location.country_population>=0", "asn=null"))
    assert not known.location[0]
    assert not known.network[0]


def test_values_that_no_answer_has(sample: geolookup.Engine) -> None:
    dataset = sample._open_state().dataset
    found = conditions_of(["country=US,XX", "asn=15169,4294967295", "neighbors=QQ", "eu=true"])
    assert list(absent_values(dataset, found)) == [
        "no answer has the location.country_code 'XX'; check its spelling",
        "no answer has the network.asn 4294967295",
        "no answer has the location.country_neighbors 'QQ'; check its spelling",
    ]
    many = conditions_of("city=8.8.8.8," + ",".join(map("Xq{}".format, range(1, 2000))))
    *_, last = lines = list(absent_values(dataset, many))
    assert last == "no answer has 1,995 more values of location.city_name"
    assert lines[0] == "no answer has the location.city_name (an address); check its spelling"
    assert len(lines) == 6
    close = conditions_of("location.country_name=Germny")
    assert "did you mean 'Germany'?" in next(absent_values(dataset, close))


def test_a_box_may_cross_the_180th_meridian() -> None:
    places = [pa.array([0.0, 0.0, 0.0, 9.0]), pa.array([-179.0, 0.0, 179.0, 0.0])]
    assert InBox(-1, -10, 1, 10).marks(*places).tolist() == [False, True, False, False]
    assert InBox(-1, 170, 1, -170).marks(*places).tolist() == [True, False, True, False]
