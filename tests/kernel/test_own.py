"""Own columns in both kernels: the slow plain answer for every address, private ones too."""

from __future__ import annotations

import pickle
from ipaddress import IPv4Address, IPv6Address, ip_network
from pathlib import Path
from typing import Any

import pytest

from geolookup.errors import DatasetError
from tests import own
from tests.address_texts import EVERY
from tests.datasets import SMALL
from tests.internals.contract import CONTRACT, is_address
from tests.internals.dataset import Dataset, layout
from tests.internals.kernel import answers, state_of
from tests.kernel.modules import MODULES
from tests.kernel.test_kernel import AT

_BOTH = pytest.mark.parametrize("module", MODULES)
_NAMES = [f"own.{name}" for name in own.NAMES]


def _bounds(rows: list[own.OwnRow]) -> list[str]:
    """Return the addresses at the bounds of networks, IPv4 also as IPv6 carries it."""
    texts = []
    for row in rows:
        network = ip_network(row.network)
        for end in (int(network[0]), int(network[-1])):
            for number in (end - 1, end, end + 1):
                if 0 <= number < 1 << network.max_prefixlen:
                    texts += _spellings(network.version, number)
    return texts


def _spellings(version: int, number: int) -> list[str]:
    if version == 6:
        return [str(IPv6Address(number))]
    text, in_6to4 = str(IPv4Address(number)), IPv6Address(0x2002 << 112 | number << 80)
    return [text, f"::ffff:{text}", f"64:ff9b::{text}", str(in_6to4)]


TEXTS = _bounds(own.ROWS)


def _check(kernel: Any, rows: list[own.OwnRow], texts: list[str]) -> None:
    state, wanted = state_of(kernel), []
    for text in texts:
        wanted.append(own.expected(rows, text) if is_address(text) else None)
        assert kernel.own(text) == wanted[-1], text
        assert answers.members(kernel.answer(text).own) == (wanted[-1] or dict.fromkeys(own.NAMES))
    columns = [tuple(value.values()) if value else (None,) * len(_NAMES) for value in wanted]
    assert [kernel.get(text, _NAMES) for text in texts] == columns
    assert state.values([*texts], "own", AT) == wanted
    for _ in range(2):  # the second from the values that were kept
        assert state.values([*texts], tuple(_NAMES), AT) == columns


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return own.add_own(SMALL, tmp_path_factory.mktemp("own") / "dataset")


@_BOTH
def test_every_address(module: Any, folder: Path) -> None:
    _check(module.Kernel(Dataset(folder)), own.ROWS, [*TEXTS, *EVERY])


@_BOTH
def test_the_contract_does_not_change(module: Any, folder: Path) -> None:
    with_own, without = module.Kernel(Dataset(folder)), module.Kernel(Dataset(SMALL))
    for text in (*TEXTS, *EVERY):
        assert with_own.lookup(text, at=AT) == without.lookup(text, at=AT)
        assert with_own.lookup_json(text, at=AT) == without.lookup_json(text, at=AT)
    state, former = state_of(with_own), state_of(without)
    texts: list[object] = [*TEXTS, *EVERY]
    paths = tuple(field.path for field in CONTRACT.fields)
    assert state.values(texts, paths, AT) == former.values(texts, paths, AT)
    assert state.envelopes_json(texts, AT) == former.envelopes_json(texts, AT)


@_BOTH
def test_fields_together(module: Any, folder: Path) -> None:
    kernel = module.Kernel(Dataset(folder))
    names = "own.site_id", "country", "own", "own.tags", "time.current_timestamp"
    wanted = {
        "8.8.8.8": ("-", "US", kernel.own("8.8.8.8"), "-", AT),
        "10.1.2.3": ("Branch", "-", kernel.own("10.1.2.3"), "-", "-"),
        "malformed": ("-",) * 5,
    }
    state = state_of(kernel)
    assert state.values([*wanted], names, AT, "-") == [*wanted.values()]
    for ip, values in wanted.items():
        assert kernel.get(ip, *names, default="-", at=AT) == values
    assert kernel.get("[10.1.2.3]:80", "own.site_id", clean=True) == "Branch"
    assert kernel.own("[10.1.2.3]:80") is None
    assert kernel.own(" 10.1.2.3", clean=True) == kernel.own("10.1.2.3")


@_BOTH
def test_callers_may_change_what_they_get(module: Any, folder: Path) -> None:
    kernel = module.Kernel(Dataset(folder))
    for _ in range(4):  # the row enters the cache
        columns = kernel.own("8.8.8.9")
        assert columns == own.expected(own.ROWS, "8.8.8.9")
        columns["tags"].append("changed")
        columns.clear()
        kernel.get("8.8.8.9", "own.tags").append("changed")
        kernel.answer("8.8.8.9").own.tags.append("changed")
        state_of(kernel).values(["8.8.8.9"], "own.tags", AT)[0].append("changed")


@_BOTH
def test_answers(module: Any, folder: Path) -> None:
    kernel, other = module.Kernel(Dataset(folder)), module.Kernel(Dataset(SMALL))
    for text in ("8.8.8.9", "10.1.2.3", "malformed"):
        answer = kernel.answer(text, at=AT)
        restored = pickle.loads(pickle.dumps(answer))  # noqa: S301
        assert restored.own.tags == answer.own.tags
        assert answers.members(restored.own) == answers.members(answer.own)
        assert type(restored) is not type(answer) or restored == answer
        assert answer == kernel.answer(text, at=AT)
        assert hash(answer.own) == hash(kernel.answer(text).own)
        assert answer != other.answer(text, at=AT)
        assert "tags" in dir(answer.own)
    assert kernel.answer("10.1.2.3") != kernel.answer("10.0.0.0")
    assert kernel.answer("10.1.2.3") == kernel.answer("10.1.2.4")
    assert kernel.answer("8.8.8.9", at=AT).own == kernel.answer("8.8.8.10").own
    assert str(kernel.answer("8.8.8.8").prefix) == "8.8.8.8/32"  # one interval
    assert "own.tags" in kernel.answer("8.8.8.9")._repr_html_()
    assert "any ☃" in kernel.answer("8.8.8.9")._repr_html_()
    assert len(other.answer("8.8.8.8").__reduce__()[1]) == 3  # as without own columns
    with pytest.raises(AttributeError, match=r"own has no member 'site'; did you mean 'site_id'"):
        kernel.answer("8.8.8.8").own.site  # noqa: B018
    with pytest.raises(AttributeError, match=r"immutable|not writable|no attribute"):
        kernel.answer("8.8.8.8").own.site_id = "changed"


@_BOTH
def test_a_dataset_without_own_columns(module: Any) -> None:
    kernel = module.Kernel(Dataset(SMALL))
    problem = r"the dataset has no own columns; declare them in \[columns\] of the recipe"
    column = r"the dataset has no column 'own.x'; declare it in \[columns\] of the recipe"
    for call in (kernel.own, lambda ip: kernel.get(ip, "own")):
        with pytest.raises(ValueError, match=problem):
            call("8.8.8.8")
    for several in ("own.x", ["country", "own.x"]):
        with pytest.raises(ValueError, match=column):
            kernel.get("8.8.8.8", several)
    with pytest.raises(ValueError, match=column):
        state_of(kernel).values(["8.8.8.8"], "own.x", AT)
    with pytest.raises(AttributeError, match=r"declare it in \[columns\] of the recipe"):
        kernel.answer("8.8.8.8").own.x  # noqa: B018
    assert answers.members(kernel.answer("8.8.8.8").own) == {}


# --- damage


@_BOTH
def test_damaged_texts(module: Any, folder: Path, tmp_path: Path) -> None:
    """A text too many in a row raises DatasetError, and only for the addresses of that row."""
    path = own.add_own(SMALL, tmp_path / "damaged") / layout.OWN
    path.write_bytes(path.read_bytes().replace(b'"Branch"', b'"Bra\nch"'))
    kernel = module.Kernel(Dataset(path.parent))
    for text in (text for text in TEXTS if is_address(text)):
        wanted = own.expected(own.ROWS, text)
        if wanted["site_id"] == "Branch":
            with pytest.raises(DatasetError, match=r"own\.arrow: row \d+ is damaged"):
                kernel.own(text)
        else:
            assert kernel.own(text) == wanted


@_BOTH
def test_rows_outside_the_table(module: Any, tmp_path: Path) -> None:
    folder = own.add_own(SMALL, tmp_path / "damaged")
    dataset: Any = Dataset(folder)
    for name in (layout.IPV4, layout.IPV6):
        path = folder / name
        data = bytearray(path.read_bytes())
        begin, size = dataset.manifest.file(name)["columns"]["own"]["buffers"][1]
        data[begin : begin + size] = b"\xff\xff\xff\x7f" * (size // 4)
        path.write_bytes(data)
    kernel = module.Kernel(Dataset(folder))
    for text in ("8.8.8.8", "10.0.0.1", "fd00::1", "2001:4860:4860::8888", "::ffff:8.8.8.8"):
        for call in (
            kernel.own,
            lambda ip: kernel.get(ip, "own.tags"),
            lambda ip: kernel.answer(ip).own.tags,
            lambda ip: state_of(kernel).values([ip], "own.tags", AT),
        ):
            with pytest.raises(DatasetError, match="row 2147483647 does not exist"):
                call(text)
