"""One hierarchy of errors, the ones with the address, and one owner of their messages."""

from __future__ import annotations

import copy
import copyreg
import inspect
import pickle
import traceback
from ipaddress import IPv4Address
from typing import Any

import pyarrow as pa
import pytest

import geolookup
from geolookup import errors
from geolookup.errors import (
    BuildError,
    DatasetError,
    GeoLookupError,
    OutputError,
    count_text,
    near_match,
    near_word,
    suggestion,
)
from tests.envelopes import ERRORS, contract_errors
from tests.skips import needs, optional

KINDS = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, BaseException)
]


def restored(error: Exception) -> Any:
    return pickle.loads(pickle.dumps(error))  # noqa: S301 - our own bytes


def test_every_error_has_one_base() -> None:
    assert len(KINDS) > 15
    assert [kind for kind in KINDS if not issubclass(kind, GeoLookupError)] == []
    assert not issubclass(OutputError, DatasetError)
    assert not issubclass(BuildError, DatasetError)
    codes = {error.code: (error.message, error.http_status) for error in contract_errors()}
    assert codes == ERRORS


def test_one_line_that_survives_pickling() -> None:
    for error, text in (
        (DatasetError("a", "missing", "build it"), "a: missing; build it"),
        (OutputError("a", "exists", "choose another"), "a: exists; choose another"),
        (BuildError("a", "bad"), "a: bad"),
        (BuildError("a", "bad", line=7, remedy="mend it"), "a:7: bad; mend it"),
        (errors.TableFileError("a", "bad", "mend it", row=7), "a, row 7: bad; mend it"),
        (OutputError("a\n\x1b[2J", "b\x9b", "c\u2028é"), r"a\n\x1b[2J: b\x9b; c\u2028é"),
        (geolookup.errors.ClosedError(), str(geolookup.errors.ClosedError())),
    ):
        again = restored(error)
        assert (str(error), str(again)) == (text, text)
        assert type(again) is type(error)
        assert vars(again) == vars(error)


def test_hints() -> None:
    for word, words, hint in (
        ("cuntry", ("country", "city"), "did you mean 'country'?"),
        ("IP", ("n", "ip"), "did you mean 'ip'?"),
        ("ip", ("n", "IP "), "did you mean 'IP '?"),
        ("xyz", ("country", "city"), "known are country, city"),
        ("xyz", (), "none is known"),
        (1, (10, 22), "did you mean '10'?"),
    ):
        assert near_match(word, words) == hint
    assert near_word("key", ("keep",), cutoff=0.7) is None
    assert suggestion("a", "b", argument="--") == "did you mean --'a' or --'b'?"
    assert near_match("xyz", ["country"], fallback="see the page") == "see the page"
    assert near_match("IP", ["n", "ip"], argument="column=") == "did you mean column='ip'?"
    other = "name another by --ip-column; known are country"
    assert near_match("xyz", ["country"], argument="--ip-column ") == other
    quantities = [count_text(number, "row") for number in (0, 1, 2, 1000)]
    assert quantities == ["0 rows", "1 row", "2 rows", "1,000 rows"]
    many = near_match("xyz", [f"c{number}" for number in range(1000)])
    assert many.endswith(", c39, and 960 more")


_PRIVATE = ("10.1.2.3", IPv4Address("10.1.2.3"), "::ffff:10.1.2.3", "fe80::77")
ADDRESSES = [
    *((ip, geolookup.PrivateAddressError) for ip in _PRIVATE),
    *((ip, geolookup.InvalidAddressError) for ip in ("8.8.8.256", "zz::77", b"8.8.8.8", None)),
]


def test_the_attribute_is_the_input(sample: geolookup.Engine) -> None:
    """They are ValueErrors, and only their attribute has it: no text, pickle or copy does."""
    for address, kind in ADDRESSES:
        with pytest.raises(kind) as caught:
            sample.explain(address)
        error = caught.value
        assert isinstance(error, ValueError)
        assert getattr(error, "address", "no member") is address
        text = "".join(traceback.format_exception(error, limit=0))
        pickled = pickle.dumps(error).decode("latin-1")
        for shown in (str(error), repr(error), text, str(vars(error)), str(error.args), pickled):
            assert address is None or str(address) not in shown
        for again in (error, restored(error), copy.copy(error)):
            assert (type(again), str(again)) == (kind, kind.message)
            assert again is error or again.address is None


@needs("tblib")
def test_another_way_of_pickling(monkeypatch: pytest.MonkeyPatch) -> None:
    """tblib, in workers of Dask, registers its own: of plain exceptions it calls no __init__."""
    kind, way = geolookup.InvalidAddressError, optional("tblib.pickling_support").pickle_exception
    monkeypatch.setitem(copyreg.dispatch_table, kind, way)
    assert restored(kind("10.1.2.3")).address is copy.copy(kind("10.1.2.3")).address is None


def test_a_row_of_a_column(sample: geolookup.Engine) -> None:
    no_text = pa.array([b"8.8.\xff"], pa.binary()).cast(pa.string(), safe=False)
    for column, address in (
        (pa.array(["8.8.8.8", "10.1.2.3"]), "10.1.2.3"),
        (pa.array([None], pa.string()), None),
        (no_text, b"8.8.\xff"),
    ):
        with pytest.raises(errors.AddressError) as caught:
            sample.enrich(pa.table({"ip": column}), on_invalid="raise")
        assert caught.value.address == address
        assert "10.1.2.3" not in "".join(caught.value.__notes__)
