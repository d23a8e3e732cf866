"""Whether a rollback withdrew what a dataset says: by its answers, whatever their row numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.store.generations import rollback
from geolookup.store.publish import publish
from geolookup.updates.withdrawn import is_withdrawn
from tests.conftest import build_at
from tests.store.numbered import generation, published, shared

#: Rows of the withdrawn dataset: a city is known of the first network, and not of the second.
WITHDRAWN = ("8.8.8.0/24,Paris,1,A", "9.9.9.0/24,,2,B", "1.0.0.0/24,Nice,3,C")


def built(folder: Path, *rows: str, **options: Any) -> Path:
    folder.mkdir(exist_ok=True)
    text = "\n".join(["network,city_name,postal_code,isp", *rows, ""])
    return build_at(folder, {"a.csv": text}, **options)[0]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store whose last generation is withdrawn."""
    store = tmp_path / "store"
    publish(built(tmp_path / "current", "8.8.8.0/24,Berlin,4,A"), store)
    publish(built(tmp_path / "withdrawn", *WITHDRAWN), store)
    rollback(store)
    return store


def test_what_was_withdrawn_and_what_was_not(store: Path, tmp_path: Path) -> None:
    first, second, third = WITHDRAWN
    for rows, expected in (
        (WITHDRAWN, True),
        ((first, "9.9.9.0/24,Nice,2,B", third), False),  # only adds a value
        (("8.8.8.0/24,,1,A", second, third), False),  # only lacks one
        (("8.8.8.0/24,Lyon,1,A", second, third), False),
        ((first, third), False),
        (("8.8.8.0/24,Berlin,4,A",), False),  # the current one is not withdrawn
    ):
        dataset = built(tmp_path / "new", *rows)
        assert is_withdrawn(store, dataset, generation(dataset)) is expected, rows


def test_the_same_answers_by_other_row_numbers(store: Path, tmp_path: Path) -> None:
    base = built(tmp_path / "base", *reversed([*WITHDRAWN, "1.0.1.0/24,Lyon,5,D"]))
    again = built(tmp_path / "withdrawn", *WITHDRAWN, base=base)
    assert generation(again) not in {each.generation for each in geolookup.generations(store)}
    assert is_withdrawn(store, again, generation(again))


def test_a_withdrawn_generation_that_does_not_open_says_nothing(
    store: Path, tmp_path: Path
) -> None:
    same, withdrawn = built(tmp_path / "new", *WITHDRAWN), geolookup.generations(store)[0]
    (store / "generations" / withdrawn.generation / "manifest.json").write_text("{}")
    assert is_withdrawn(store, same, withdrawn.generation)  # by its id
    assert not is_withdrawn(store, same, "0" * 64)
    other = published(tmp_path / "other", 0, 1)  # in which nothing was withdrawn
    assert not is_withdrawn(other, shared(0), generation(shared(0)))
