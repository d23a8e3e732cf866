"""Golden answers, whole envelopes byte for byte, and the frozen JSON Schema of version 1.

The answers in ``golden/*.json`` were read by hand. Every answer is also held against the closed
schema, and its JSON against its dict. ``golden/envelope.schema.v1.json`` is the published schema; a
test has its digest. Today's schema must have all rules of the frozen one. It may have more members.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

import geolookup
from tests.conftest import ROOT, build_at
from tests.envelopes import check, closed, compact, contract_errors, published
from tests.internals.contract import fields
from tests.strategies import ipv4_values, ipv6_values

GOLDEN = ROOT / "tests" / "golden"
RECIPE = '[dataset]\nname = "golden"\n' + "".join(
    f'[[source]]\nformat = "csv"\npath = "{name}"\n' for name in ("places.csv", "networks.csv")
)
THEMES = ("seasons", "offsets", "history", "unknown", "texts", "errors")


@pytest.fixture(scope="session")
def golden(tmp_path_factory: pytest.TempPathFactory) -> Iterator[geolookup.Engine]:
    files: dict[str, str | bytes] = {
        name: (GOLDEN / name).read_bytes() for name in ("places.csv", "networks.csv")
    }
    dataset, _ = build_at(tmp_path_factory.mktemp("golden"), files, RECIPE)
    with geolookup.open(dataset) as engine:
        yield engine


def instant(case: dict[str, Any]) -> datetime | None:
    return datetime.fromisoformat(case["at"]) if case["at"] else None


@pytest.mark.parametrize("theme", THEMES)
def test_golden(golden: geolookup.Engine, theme: str) -> None:
    cases = json.loads((GOLDEN / f"{theme}.json").read_text(encoding="utf-8"))
    assert cases
    for case in cases:
        expected, asked = case["answer"], (case["ip"], instant(case))
        check(expected)
        # As bytes, for dicts are equal in any order, and 1 is 1.0 is True.
        assert compact(golden.lookup(asked[0], at=asked[1])) == compact(expected), case["name"]
        assert golden.lookup_json(asked[0], at=asked[1]) == compact(expected), case["name"]


def scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from scalars(item)
    else:
        yield value


def check_answer(engine: geolookup.Engine, ip: str, at: float) -> None:
    answer = engine.lookup(ip, at=at)
    check(answer)
    assert "" not in list(scalars(answer))
    for number in scalars(answer):
        if isinstance(number, float):
            assert not number.is_integer()  # integral ones are int, and so is zero
            assert math.isfinite(number)
    text = engine.lookup_json(ip, at=at)
    assert text == compact(answer)
    assert json.loads(text) == answer


@given(
    st.integers(0x14000000, 0x14001000)
    | ipv4_values
    | st.integers(0, 0x100).map(lambda n: n << 24),
    st.floats(-6e10, 2.5e11) | st.integers(-(10**9), 5 * 10**9),
)
def test_any_ipv4_answer(golden: geolookup.Engine, value: int, at: float) -> None:
    octets = value.to_bytes(5, "big")[1:]
    check_answer(golden, ".".join(map(str, octets)), at)


@given(ipv6_values | st.integers(0, 1 << 79).map(lambda low: 0x2A0000010002 << 80 | low))
def test_any_ipv6_answer(golden: geolookup.Engine, value: int) -> None:
    text = ":".join(f"{value >> shift & 0xFFFF:x}" for shift in range(112, -1, -16))
    check_answer(golden, text, 0)


_WITHOUT_TZDATA = """
import sys
import geolookup
for ip in ("20.0.1.1", "20.0.10.1"):
    sys.stdout.buffer.write(geolookup.open(sys.argv[1]).lookup_json(ip, at=1768478400) + b"\\n")
"""


def test_a_zone_that_the_tz_database_lacks(golden: geolookup.Engine) -> None:
    """A process without any tz database: no folders of it, and no site-packages for tzdata."""
    run = subprocess.run(
        [sys.executable, "-S", "-c", _WITHOUT_TZDATA, str(golden.path)],
        env={**os.environ, "PYTHONTZPATH": "", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
    )
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    for ip, answer in zip(("20.0.1.1", "20.0.10.1"), answers, strict=True):
        check(answer)
        time = dict.fromkeys(fields.TIME_MEMBERS) | {"current_timestamp": 1768478400}
        expected: Any = golden.lookup(ip, at=1768478400)
        assert expected["data"]["time"]["zone"]
        expected["data"]["time"] = time
        assert compact(answer) == compact(expected)


FROZEN = ROOT / "tests" / "golden" / "envelope.schema.v1.json"
DIGEST = "6346638ee28e8139d38fe8c1a39c9b7c909bddbfaf97eb42c8ea372de81cd7a0"


def extends(old: Any, new: Any, key: str = "") -> bool:
    """Say whether a schema says all that an older one says, and at most adds members."""
    if isinstance(old, dict) and isinstance(new, dict):
        same = key in ("properties", "$defs") or old.keys() == new.keys()
        return same and all(item in new and extends(old[item], new[item], item) for item in old)
    if key == "required":
        return set(old) <= set(new)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return all(extends(*pair) for pair in zip(old, new, strict=True))
    return type(old) is type(new) and bool(old == new)


def test_frozen() -> None:
    assert hashlib.sha256(FROZEN.read_bytes()).hexdigest() == DIGEST
    assert extends(json.loads(FROZEN.read_text(encoding="utf-8")), published())


def test_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(published())
    jsonschema.Draft202012Validator.check_schema(closed(published()))
    assert "additionalProperties" not in json.dumps(published())


def test_errors_are_those_of_the_code() -> None:
    errors = contract_errors()
    pairs = [item["properties"] for item in published()["$defs"]["failure"]["oneOf"]]
    assert [(p["error_code"]["const"], p["error_message"]["const"]) for p in pairs] == [
        (error.code, error.message) for error in errors
    ]
