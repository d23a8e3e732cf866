"""``summarize --by``: addresses counted by any stored field, private ones by own columns."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import own_random
from tests.cli.program import run
from tests.corrupt.forging import manifest, rewrite
from tests.damage import copied
from tests.oracle import Address
from tests.own_sources import own_dataset
from tests.tiers import scaled

_EVERY = list(own_random.addresses())


@settings(max_examples=scaled(3, 20), deadline=None, suppress_health_check=list(HealthCheck))
@given(own_random.rows, st.lists(st.sampled_from(_EVERY), max_size=60))
def test_counts_are_those_of_each_address(rows: list[own_random.Row], asked: list[Address]) -> None:
    names = ("country_code", "own.site", "own.risk", "own.flag", "own.tags")
    with TemporaryDirectory() as folder:
        output = own_random.build(Path(folder), rows)
        text = "".join(f"{address}\n" for address in asked)
        by = ",".join(names)
        done = run("summarize", "-", "--by", by, "-d", str(output), "--json", text=text)
    document = json.loads(done.stdout)
    is_special = [own_random.is_special(address) for address in asked]
    assert document["private"] == sum(is_special)
    for name in names:
        values = [own_random.expected(rows, address).get(name) for address in asked]
        counts = Counter(
            ", ".join(value) if isinstance(value, list) else value
            for value in values
            if value is not None
        )
        path = name if name.startswith("own.") else f"location.{name}"
        listed = document[path]
        member = name.removeprefix("own.")
        assert {one[member]: one["addresses"] for one in listed["top"]} == dict(counts)
        # A column that is not private is asked about public addresses only.
        is_private = member in own_random.PRIVATE
        asked_about = len(asked) if is_private else len(asked) - sum(is_special)
        assert listed["unknown"] == asked_about - sum(counts.values())


def test_errors() -> None:
    options = ("--dataset", str(own_dataset()))
    for name, message in (
        ("own.site", "did you mean 'own.site_id'?"),
        ("time.current_time", "is not stored"),
    ):
        refused = run("summarize", "-", "--by", name, *options)
        assert refused.returncode == 2
        assert message in refused.stderr


def test_counts_of_a_damaged_manifest_size_no_array(tmp_path: Path) -> None:
    dataset = copied(own_dataset(), tmp_path / "copy")
    document = manifest(dataset)
    document["counts"]["ipv4_intervals"] = 1
    document["counts"]["ipv6_intervals"] = 0
    rewrite(dataset, document)
    done = run(
        "summarize", "-", "--by", "own.site_id", "-d", str(dataset), text="fd00::1\n8.8.8.8\n"
    )
    assert "ULA" in done.stdout
