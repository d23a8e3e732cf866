"""The OpenAPI document says what the server does, to generated requests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from geolookup.http.answers import NO_SUCH_METHOD, NO_SUCH_PATH, OUTCOMES
from geolookup.http.application import PATH
from tests import envelopes as contract
from tests.conftest import ROOT
from tests.http.serving import Server
from tests.tiers import scaled

httpx = pytest.importorskip("httpx")
requests = pytest.importorskip("requests")
schemathesis = pytest.importorskip("schemathesis")
from schemathesis.checks import CHECKS  # noqa: E402
from schemathesis.generation.modes import GenerationMode  # noqa: E402

DOCUMENT = ROOT / "docs" / "openapi.json"
#: Malformed requests take long to generate.
WELL_FORMED, MALFORMED = scaled(200, 5_000), scaled(10, 150)
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


def holds(case: Any, session: Any, server: Server, key: str | None) -> None:
    """Send a generated request; the answer is the envelope and as the document says."""
    # What HTTP itself cannot carry is no request.
    case.headers = {
        name: value for name, value in (case.headers or {}).items() if name != "X-API-Key"
    }
    if key is not None:
        case.headers["X-API-Key"] = key
    base = f"http://127.0.0.1:{server.port}"
    reply = case.call(base_url=base, session=session)
    case.validate_response(reply, checks=CHECKS.get_by_names(_CHECKS))
    answer = json.loads(reply.content)
    contract.check(answer)
    assert answer["success"] == (reply.status_code == 200)
    if key is None:
        assert answer["error_code"] == 20001


def generated(mode: Any, count: int) -> Callable[[Callable[..., None]], Callable[[], None]]:
    cases = operation(DOCUMENT).as_strategy(generation_mode=mode)
    quick = settings(
        max_examples=count,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    return lambda test: quick(given(cases, st.booleans())(test))


def test_well_formed_requests(server: Server, key: str, session: Any) -> None:
    asked = []

    @generated(GenerationMode.POSITIVE, WELL_FORMED)
    def each(case: Any, has_key: bool) -> None:
        holds(case, session, server, key if has_key else None)
        asked.append(case)

    each()
    assert len(asked) >= WELL_FORMED


def test_malformed_requests(server: Server, key: str, session: Any) -> None:
    @generated(GenerationMode.NEGATIVE, MALFORMED)
    def each(case: Any, has_key: bool) -> None:
        holds(case, session, server, key if has_key else None)

    each()


def test_the_document_names_every_status_of_the_operation() -> None:
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    assert list(document["paths"]) == [PATH]
    beside = {NO_SUCH_PATH.status, NO_SUCH_METHOD.status}
    for method in ("get", "head"):
        said = {int(status) for status in document["paths"][PATH][method]["responses"]}
        assert said == {outcome.status for outcome in OUTCOMES} - beside


def test_its_examples_are_answered(server: Server, key: str) -> None:
    document = json.loads(DOCUMENT.read_text(encoding="utf-8"))
    for example in document["components"]["parameters"]["ip"]["examples"].values():
        url = f"http://127.0.0.1:{server.port}{PATH}"
        reply = httpx.get(url, params={"ip": example["value"]}, headers={"X-API-Key": key})
        assert reply.json()["success"]
