"""What changed since earlier lists: an old list with its changes is the new list."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pytest

from geolookup.errors import TableFileError
from geolookup.prefixes.since import changes, read_list
from geolookup.prefixes.syntaxes import SYNTAXES
from geolookup.prefixes.syntaxes.protocol import Lists
from tests.prefixes.syntaxes.lists import changes_text, drawn, lists, whole_text
from tests.prefixes.syntaxes.reading import READERS


def _texts(found: Lists) -> dict[int, list[str]]:
    return {
        family: [text for texts in batches for text in texts.to_pylist()]
        for family, batches in found.items()
    }


def test_the_old_list_with_its_changes_is_the_new_one() -> None:
    for old, new in ((1, 2), (1, 1), (2, 1)):
        before, after = drawn(old, 60), drawn(new, 60)
        added, removed = map(_texts, changes(lists(before), lists(after)))
        for family in (4, 6):
            assert set(added[family]) == set(after[family]) - set(before[family])
            assert set(removed[family]) == set(before[family]) - set(after[family])
            assert added[family] == [each for each in after[family] if each in set(added[family])]


def test_a_family_that_is_not_asked_for_is_left_out() -> None:
    found = changes(lists(drawn(1, 5)), {6: []})
    assert set(found.added) == set(found.removed) == {6}
    assert _texts(changes({}, lists(drawn(1, 5))).added) == drawn(1, 5)
    new = {4: iter([pa.array(["1.0.0.0/24"])])}
    assert _texts(changes({4: [pa.array([], pa.string())]}, new).added) == {4: ["1.0.0.0/24"]}


_NOTHING: dict[int, list[str]] = {4: [], 6: []}


def test_a_file_that_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "list"
    for name in READERS:
        for content in (_NOTHING, drawn(3, 40)):
            path.write_text(f"# a comment 9.0.0.0/8\n{whole_text(name, content)}")
            assert _texts(read_list(path, SYNTAXES[name])) == content, name
        path.write_text("1.0.0.0/24\n2a00::/12\n")
        assert _texts(read_list(path, SYNTAXES[name])) == {4: ["1.0.0.0/24"], 6: ["2a00::/12"]}


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "list"
    for name in READERS:
        path.write_text("ip,country\n1.0.0.0,AU\n")
        with pytest.raises(TableFileError, match="holds no prefix; name a file"):
            read_list(path, SYNTAXES[name])
        # In a group of cisco what was only added is a list too.
        olds = [drawn(1, 9)] if name == "cisco" else [drawn(1, 9), _NOTHING]
        for before in olds if SYNTAXES[name].changes else ():
            path.write_text(f"# a comment\n{changes_text(name, before, drawn(2, 9))}")
            with pytest.raises(TableFileError, match="holds changes, not a list"):
                read_list(path, SYNTAXES[name])
    for text in ("1.0.0.0/33", "::/129", "1.0.0/8", "1:2/3", "1.0.0.0/0024", f"::/{'1' * 5000}"):
        path.write_text(f"1.0.0.0/24\n{text}\n")
        with pytest.raises(TableFileError, match="a malformed prefix; name a file") as caught:
            read_list(path, SYNTAXES["pf"])
        assert text not in str(caught.value)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (tmp_path / "none", fifo, Path("/dev/zero")):
        with pytest.raises(TableFileError, match=r"cannot be read \(.*\); name a list"):
            read_list(path, SYNTAXES["nft"])
