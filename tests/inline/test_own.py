"""Own columns in tags and conditions on text, for private addresses too, on both kernels."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geolookup.cli.terminal_text import value_text
from geolookup.dataset.files import Dataset
from geolookup.inline.annotate import Tags, Template, annotate_blocks
from geolookup.inline.grep import LineFilter, Lines
from geolookup.kernel import State
from geolookup.kernel import python as kernel_python
from geolookup.prefixes.conditions import conditions_of
from geolookup.prefixes.select import row_masks
from tests import own_random
from tests.cli.program import run
from tests.own_sources import own_dataset
from tests.prefixes.test_own import CONDITIONS
from tests.tiers import scaled

STATES = (State, kernel_python.State)
_FIELDS = ("country", "own.site", "own.risk", "own.flag", "own.tags")


@settings(max_examples=scaled(6, 100), deadline=None, suppress_health_check=list(HealthCheck))
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
    masks = row_masks(state.dataset, conditions_of(condition, "grep", state.dataset.schema))
    lines = Lines(state, LineFilter(masks, **options), "text").matching([text.encode()])
    return b"".join(map(bytes, lines)).decode().splitlines()


def _annotate(state: Any, text: str, form: str) -> list[str]:
    template = Template(form, value_text, "annotate", state.dataset.schema)
    tags = Tags(state, template, lambda tag: f" [{tag}]".encode())
    return b"".join(map(bytes, annotate_blocks(state, [text.encode()], tags))).decode().splitlines()


def test_the_commands(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("from 10.2.3.4\nfrom 8.8.8.8\nfrom 127.0.0.1 and 10.9.9.9\n", encoding="utf-8")
    options = ["--dataset", str(own_dataset())]
    done = run("grep", "--where", "own.site_id=HQ", str(log), *options)
    assert done.stdout == "from 10.2.3.4\nfrom 127.0.0.1 and 10.9.9.9\n"
    # Loopback has no own column: it is no address with an answer.
    assert run("grep", "--all", "--where", "own.site_id=HQ", str(log), *options).stdout == (
        done.stdout
    )
    assert run("grep", "--where", "own.is_vpn", str(log), *options).stdout == "from 8.8.8.8\n"
    tagged = run("annotate", "--template", "{own.site_id}", str(log), *options).stdout
    assert tagged.splitlines()[2] == "from 127.0.0.1 [private] and 10.9.9.9 [HQ]"
    prefixes = run("prefixes", "own.site_id=HQ", "--within", "10.0.0.0/15", *options)
    assert prefixes.stdout == "10.0.0.0/16\n"
    changed = run("prefixes", "own.site_id=HQ", "--since", str(own_dataset()), *options)
    assert (changed.returncode, changed.stdout) == (0, "")
    refused = run("prefixes", "own.site_id=HQ", "--since", "bundled", *options)
    assert refused.returncode == 2
    assert "no column own.site_id of type text; name a dataset with" in refused.stderr
    refused = run("prefixes", "own.site_i=HQ", *options)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "no column 'own.site_i'; did you mean 'own.site_id'?" in refused.stderr
