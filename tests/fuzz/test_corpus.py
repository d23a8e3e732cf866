"""The corpus: small, of the targets that there are, and chosen by the code that inputs reach."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from pathlib import Path

from geolookup.contract.address import parse
from geolookup.errors import InvalidAddressError
from tests.fuzz import corpus
from tests.fuzz.target import Target
from tests.fuzz.targets import TARGETS

#: Bytes of all inputs of all targets.
MOST = 150_000


def run(data: bytes) -> None:
    with suppress(InvalidAddressError):
        parse(data.decode("latin-1"))


TARGET = Target(run, lambda: [b"8.8.8.8"], nullcontext)


def test_it_is_small_and_of_targets() -> None:
    paths = list(corpus.FOLDER.glob("*/*"))
    assert {path.parent.name for path in paths} <= set(TARGETS)
    for path in paths:
        assert path.name == corpus.file_name(path.read_bytes())
    sizes = [path.stat().st_size for path in paths]
    assert max(sizes) <= corpus.LARGEST
    assert sum(sizes) <= MOST


def test_the_smallest_input_that_reaches_new_code_is_chosen(tmp_path: Path) -> None:
    inputs = [b"1.1.1.1", b"2600:1234:5678::1", b"2600::1", b"9.9.9.9"]
    assert corpus.chosen(TARGET, inputs) == [b"2600::1"]
    assert corpus.chosen(TARGET, [b"9.9.9.9"]) == []
    assert corpus.chosen(TARGET, [b"2600::" + b" " * corpus.LARGEST]) == []
    for kept in ([b"a", b"b"], [b"b", b"\0"]):  # what is written replaces what was there
        corpus.write("one", kept, tmp_path)
        assert sorted(corpus.entries("one", tmp_path)) == sorted(kept)
    assert corpus.entries("two", tmp_path) == []
