"""The corpus: small, of the targets that there are, and chosen by the code that inputs reach."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from pathlib import Path

from geolookup.contract.address import parse
from geolookup.errors import InvalidAddressError
from tests.fuzz import corpus
from tests.fuzz.reach import arcs
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

#: Bytes of all inputs of all targets.
MOST = 150_000


def run(data: bytes) -> None:
    with suppress(InvalidAddressError):
        parse(data.decode("latin-1"))


TARGET = Target(run, lambda: [b"8.8.8.8"], nullcontext)


def test_it_is_small_and_of_targets() -> None:
    folders = {folder.name: corpus.entries(folder.name) for folder in corpus.FOLDER.iterdir()}
    assert set(folders) <= set(TARGETS)
    assert all(len(data) <= corpus.LARGEST for inputs in folders.values() for data in inputs)
    assert 0 < sum(len(data) for inputs in folders.values() for data in inputs) <= MOST


def test_an_input_is_named_after_its_bytes() -> None:
    for path in corpus.FOLDER.glob("*/*"):
        assert path.name == corpus.file_name(path.read_bytes())


def test_arcs_tell_inputs_apart() -> None:
    ipv4, ipv6 = arcs(run, b"8.8.8.8"), arcs(run, b"2600::")
    assert ipv4 - ipv6
    assert ipv6 - ipv4
    assert arcs(run, b"1.1.1.1") == ipv4
    assert {code.co_name for code, _, _ in ipv4} >= {"parse", "parse_text", "parse_ipv4"}
    assert "_join_groups" not in {code.co_name for code, _, _ in ipv4}


def test_the_smallest_input_that_reaches_new_code_is_chosen() -> None:
    inputs = [b"1.1.1.1", b"2600:1234:5678::1", b"2600::1", b"9.9.9.9"]
    assert corpus.chosen(TARGET, inputs) == [b"2600::1"]
    assert corpus.chosen(TARGET, [b"9.9.9.9"]) == []
    assert corpus.chosen(TARGET, [b"2600::" + b" " * corpus.LARGEST]) == []


def test_what_is_written_replaces_what_was_there(tmp_path: Path) -> None:
    corpus.write("one", [b"a", b"b"], tmp_path)
    corpus.write("one", [b"b", b"\0"], tmp_path)
    assert sorted(corpus.entries("one", tmp_path)) == [b"\0", b"b"]
    assert corpus.entries("two", tmp_path) == []
