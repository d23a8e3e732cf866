"""The engine on a compiled dataset answers what the slow oracle answers, at every edge.

Strategy: few, big examples, for a build costs more than a thousand lookups: each example is
a recipe of several sources, probed at random addresses and around the ends of every range.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import geolookup
from tests.conftest import build_at
from tests.oracle import Address, Source, expected
from tests.range_strategies import addresses, as_csv, edges, recipe, sources

AT = 1_795_000_000


@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(st.lists(sources(), min_size=1, max_size=3), st.lists(addresses, min_size=30, max_size=60))
def test_engine_equals_oracle(listed: list[Source], probes: list[Address]) -> None:
    files: dict[str, str | bytes] = {f"{n}.csv": as_csv(each) for n, each in enumerate(listed)}
    with TemporaryDirectory() as folder:
        output, _ = build_at(Path(folder), files, recipe(listed))
        with geolookup.open(output) as engine:
            compare(engine, listed, [*probes, *edges(listed)])


def compare(engine: geolookup.Engine, listed: list[Source], probes: Iterable[Address]) -> None:
    for address in probes:
        text = str(address)
        answer = engine.lookup(text, at=AT)
        assert found(answer) == expected(listed, text), text
        compact = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
        assert engine.lookup_json(text, at=AT) == compact, text


def found(answer: dict[str, Any]) -> dict[str, Any] | None:
    """The part of an envelope that the oracle answers; None for a private address."""
    if not answer["success"]:
        assert answer["error_code"] == 10002
        return None
    data = answer["data"]
    return {
        "location": data["location"],
        "zone": data["time"]["zone"],
        "currency": data["currency"],
        "network": data["network"],
    }
