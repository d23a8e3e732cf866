"""The OpenAPI document says what the server does, to generated requests."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from geolookup.http.answers import NO_SUCH_METHOD, NO_SUCH_PATH, OUTCOMES
from geolookup.http.application import PATH
from geolookup.http.settings import HEAD_LIMIT
from tests import envelopes as contract
from tests.conftest import ROOT
from tests.http.serving import Server, Store
from tests.skips import needs, optional
from tests.tiers import scaled

requests, schemathesis = optional("requests"), optional("schemathesis")
CHECKS = optional("schemathesis.checks").CHECKS
GenerationMode = optional("schemathesis.generation.modes").GenerationMode
generating = needs("requests", "schemathesis")

DOCUMENT = ROOT / "docs" / "openapi.json"
#: Malformed requests take long to generate.
WELL_FORMED, MALFORMED = scaled(50, 500), scaled(10, 100)
ADDRESSES = ("8.8.8.8", "2606:4700:4700::1111", "10.0.0.1", "x")
_CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


def operation(path: Path) -> Any:
    return schemathesis.openapi.from_path(str(path))[PATH]["GET"]


@pytest.fixture(scope="module")
def session() -> Any:
    return requests.Session()


def sent(case: Any, session: Any, server: Server, key: str | None) -> Any:
    """Send a generated request; return the answer, which is as the document says."""
    # What HTTP itself cannot carry is no request.
    case.headers = {
        name: value for name, value in (case.headers or {}).items() if name != "X-API-Key"
    }
    if key is not None:
        case.headers["X-API-Key"] = key
    base = f"http://127.0.0.1:{server.port}"
    reply = case.call(base_url=base, session=session)
    # 503 is of the contract, and a server error to the first check.
    checks = _CHECKS[reply.status_code == 503 :]
    case.validate_response(reply, checks=CHECKS.get_by_names(checks))
    return reply


def outcome(reply: Any) -> tuple[int, int | None]:
    """The status and the error code of an envelope."""
    answer = json.loads(reply.content)
    contract.check(answer)
    assert answer["success"] == (reply.status_code == 200)
    assert reply.status_code < 500
    return reply.status_code, answer.get("error_code")


def generated(mode: Any, count: int) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Run a test with generated requests."""
    cases = operation(DOCUMENT).as_strategy(generation_mode=mode)
    quick = settings(
        max_examples=count,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    generating_requests: Any = given(cases)
    return lambda test: quick(generating_requests(test))


@generating
def test_well_formed_requests(server: Server, store: Store, session: Any) -> None:
    """Every outcome of the contract is met, and each is as the document says."""
    keys = [store.key(), None, "unknown", store.key("small"), store.key("slow")]
    #: Each key with each address and with the query that was generated; the slow one last, so
    #: that its requests follow upon each other.
    turns = itertools.cycle([(key, address) for key in keys for address in (None, *ADDRESSES)])
    met = Counter[tuple[int, int | None]]()

    @generated(GenerationMode.POSITIVE, WELL_FORMED)
    def ask(case: Any) -> None:
        key, address = next(turns)
        if address is not None:
            case.query = {"ip": address}
        met[outcome(sent(case, session, server, key))] += 1

    ask()
    assert met.total() >= WELL_FORMED
    errors = {(one.status, one.code) for one in OUTCOMES if one.code is not None}
    # A machine that is slow asks seldom enough for the slow plan.
    assert {(429, 30001), *met} == {(200, None), *errors}


@generating
def test_malformed_requests(server: Server, key: str, session: Any) -> None:
    keys = itertools.cycle([key, key, key, None])

    @generated(GenerationMode.NEGATIVE, MALFORMED)
    def ask(case: Any) -> None:
        outcome(sent(case, session, server, next(keys)))

    ask()


def test_the_document_names_every_status_of_the_operation() -> None:
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    assert list(document["paths"]) == [PATH]
    beside = {NO_SUCH_PATH.status, NO_SUCH_METHOD.status}
    for method in ("get", "head"):
        said = {int(status) for status in document["paths"][PATH][method]["responses"]}
        assert said == {outcome.status for outcome in OUTCOMES} - beside


def test_its_examples_are_answered(server: Server, key: str) -> None:
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    examples = document["components"]["parameters"]["ip"]["examples"].values()
    assert examples
    for example in examples:
        reply = server.ask(f"?ip={quote(example['value'])}", [("X-API-Key", key)])
        assert json.loads(reply.body)["success"], example


def test_every_status_and_limit_is_on_the_page() -> None:
    page = (ROOT / "docs" / "http.md").read_text(encoding="utf-8")
    said = {int(status) for status in re.findall(r"^\| (\d{3})", page, re.MULTILINE)}
    assert {one.status for one in OUTCOMES} <= said
    assert f"{HEAD_LIMIT >> 10} KiB" in page
