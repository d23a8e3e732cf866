"""One hierarchy of errors, and one owner of what messages share."""

from __future__ import annotations

import inspect
import pickle
import re

import pytest

import geolookup
from geolookup import errors
from geolookup.errors import (
    BuildError,
    DatasetError,
    GeoLookupError,
    OutputError,
    PathError,
    TableFileError,
    near_match,
)
from tests.conftest import ROOT

SOURCES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for folder in ("geolookup", "builder")
    for path in sorted((ROOT / folder).rglob("*.p*"))
    if path.suffix in (".py", ".pyx", ".pxi")
}
KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, BaseException)
]


def test_every_error_has_one_base() -> None:
    assert len(KINDS) > 15
    assert [kind for kind in KINDS if not issubclass(kind, GeoLookupError)] == []
    assert not issubclass(OutputError, DatasetError)
    assert not issubclass(BuildError, DatasetError)


def test_what_public_calls_raise_is_public() -> None:
    for name in ("BuildError", "DatasetError", "DiffError", "ExportError", "OutputError"):
        assert getattr(geolookup, name) is getattr(errors, name)
        assert name in geolookup.__all__


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (DatasetError("a", "missing", "build it"), "a: missing; build it"),
        (OutputError("a", "exists", "choose another"), "a: exists; choose another"),
        (BuildError("a", "bad"), "a: bad"),
        (BuildError("a", "bad", line=7, remedy="mend it"), "a:7: bad; mend it"),
        (TableFileError("a", "bad", "mend it", row=7), "a, row 7: bad; mend it"),
        (OutputError("a\n\x1b[2J", "b\x9b", "c\u2028é"), r"a\n\x1b[2J: b\x9b; c\u2028é"),
    ],
)
def test_one_line_that_survives_pickling(error: PathError, text: str) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes
    for each in (error, again):
        assert str(each) == text
    assert type(again) is type(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize(
    ("word", "words", "hint"),
    [
        ("cuntry", ("country", "city"), "did you mean 'country'?"),
        ("IP", ("n", "ip"), "did you mean 'ip'?"),
        ("ip", ("n", "IP "), "did you mean 'IP '?"),
        ("xyz", ("country", "city"), "known are country, city"),
        ("xyz", (), "none is known"),
        (1, (10, 22), "did you mean '10'?"),
    ],
)
def test_hints(word: object, words: tuple[object, ...], hint: str) -> None:
    assert near_match(word, words) == hint


def test_hints_without_a_near_word() -> None:
    assert near_match("xyz", ["country"], fallback="see the page") == "see the page"
    many = near_match("xyz", [f"c{number}" for number in range(1000)])
    assert many.endswith(", c39 and 960 more")


@pytest.mark.parametrize(
    "shared", ["get_close_matches", "build it again with 'geolookup build'", "did you mean"]
)
def test_one_owner(shared: str) -> None:
    assert [path for path, text in SOURCES.items() if shared in text] == ["geolookup/errors.py"]


def test_state_of_modules_is_known() -> None:
    """Two engines share none of it, but for caches and notes of what was done."""
    container = r"\[\]|\{\}|set\(\)|weakref\.\w+\(\)|\w*[dD]ict\(\)|deque\(.*\)"
    form = re.compile(rf"^(\w+)(?:: [^=\n]+)? = (?:{container})$", re.MULTILINE)
    found = {(path, name) for path, text in SOURCES.items() for name in form.findall(text)}
    assert found == {
        ("geolookup/__init__.py", "_default"),
        ("geolookup/contract/localtime.py", "_recent"),
        ("geolookup/gate/accounts.py", "_alive"),
        ("geolookup/gate/sqlite.py", "_of_parents"),
        ("geolookup/store/requirements.py", "_noticed"),
        ("geolookup/store/watch.py", "_watches"),
    }
    python = {path: text for path, text in SOURCES.items() if path.endswith(".py")}
    assert [path for path, text in python.items() if "\n    global " in text] == []


@pytest.mark.parametrize("forbidden", ["os.umask", "os._exit"])
def test_the_process_is_left_alone(forbidden: str) -> None:
    assert [path for path, text in SOURCES.items() if forbidden in text] == []


def test_a_closed_error_is_pickled() -> None:
    assert str(pickle.loads(pickle.dumps(geolookup.ClosedError()))) == str(geolookup.ClosedError())  # noqa: S301
