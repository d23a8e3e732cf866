"""Own columns in tags and conditions on text, for private addresses too, on both kernels."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import own_random
from tests.internals.cli import value_text
from tests.internals.dataset import Dataset
from tests.internals.inline import LineFilter, Tags, annotate_blocks
from tests.internals.kernel import State
from tests.internals.kernel import python as kernel_python
from tests.internals.prefixes import conditions_of, meeting
from tests.internals.tables import row_tables
from tests.prefixes.test_own import CONDITIONS
from tests.tiers import scaled

STATES = (State, kernel_python.State)
_FIELDS = ("country", "own.site", "own.risk", "own.flag", "own.tags")


@settings(max_examples=scaled(3, 25), deadline=None, suppress_health_check=list(HealthCheck))
@given(own_random.rows, st.sampled_from(list(CONDITIONS)), st.booleans())
def test_lines_and_tags_are_as_the_rows_state(
    rows: list[own_random.Row], condition: str, every: bool
) -> None:
    known = {str(one): own_random.expected(rows, one) for one in own_random.addresses()}
    text = "".join(f"{address}\n" for address in known)
    with TemporaryDirectory() as folder:
        path = own_random.build(Path(folder), rows)
        for kind in STATES:
            state = kind(Dataset(path))
            assert _grep(state, text, condition, every=every) == [
                address for address, values in known.items() if _meets(condition, address, values)
            ]
            lines = _annotate(state, text, " ".join(f"{{{name}}}" for name in _FIELDS))
            tags = [_tag(address, values) for address, values in known.items()]
            assert lines == [f"{line} [{tag}]" for line, tag in zip(known, tags, strict=True)]


def _meets(condition: str, address: str, known: dict[str, Any]) -> bool:
    is_private = own_random.is_special(ip_address(address))
    # A private address has an answer if own columns are known for it, and the question names one.
    has_answer = not is_private or (bool(known) and condition.startswith("own."))
    return has_answer and CONDITIONS[condition](known)


def _tag(address: str, known: dict[str, Any]) -> str:
    names = ("country_code", *_FIELDS[1:])
    if own_random.is_special(ip_address(address)) and not known:
        return "private"
    values = [known.get(name) for name in names]
    return " ".join(map(value_text, values)) if any(v is not None for v in values) else "unknown"


def _grep(state: Any, text: str, condition: str, **options: Any) -> list[str]:
    masks = meeting(
        row_tables(state.dataset), conditions_of(condition, "grep", state.dataset.schema)
    )
    lines = LineFilter(state, masks, "text", **options).matching([text.encode()])
    return b"".join(lines).decode().splitlines()


def _annotate(state: Any, text: str, form: str) -> list[str]:
    tags = Tags(state, form, "annotate", value_text, lambda tag: f" [{tag}]".encode())
    return b"".join(annotate_blocks([text.encode()], tags)).decode().splitlines()
