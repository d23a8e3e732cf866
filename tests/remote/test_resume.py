"""The cache: resuming makes no file of two versions; locks, and owners of the files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from geolookup.errors import BuildError
from tests.internals.progress import Progress
from tests.internals.remote import CacheEntry, ask, fetch
from tests.remote.serving import (
    FAST,
    MODIFIED,
    Act,
    cut,
    fetched,
    file,
    kept_files,
    remote,
    serving,
    status,
)

ONE = b"".join(b"%06d,one\n" % at for at in range(30_000))
TWO = ONE.replace(b"one", b"two")
AT = 200_000
#: With the range, and without.
MISSING = [status(404)] * 2


def answered(content: bytes, content_range: str, **headers: str) -> Act:
    """An answer to a Range: these bytes, under that Content-Range."""
    headers = {"ETag": '"one"', "Content_Range": content_range, **headers}
    return lambda handler: handler.answer(206, content, **headers)


def test_a_download_goes_on(tmp_path: Path) -> None:
    """In the same run or a later one, also after another page, such as a hotel network's."""
    page = [status(200, b"<html>", Content_Type="text/html")]
    for name, acts in (("run", []), ("404", MISSING), ("page", page)):
        with serving(cut(ONE, AT), *acts, file(ONE)) as site:
            if acts:
                with pytest.raises(BuildError, match=r"404|HTML page"):
                    fetched(f"{site.url}/a.csv", tmp_path / name)
                assert kept_files(tmp_path / name, "a.csv") == []
            done = fetched(f"{site.url}/a.csv", tmp_path / name)
        assert (done.file.path.read_bytes(), done.start) == (ONE, AT)
        assert str(done) == f"fetched {len(ONE):,} bytes, resumed at byte {AT:,}"
        assert site.ranges[-1] == f"bytes={AT}-"
        assert site.asked[-1][1]["If-Range"] == '"one"'


ONE_ENDS, GREW = f"{len(ONE) - 1}/{len(ONE)}", ONE + TWO
LATER = {
    "the range is ignored": [status(200, ONE, ETag='"one"')],
    "the file changed": [file(TWO, '"two"')],
    "the file changed, and the range is answered": [
        answered(TWO[AT:], f"bytes {AT}-{ONE_ENDS}", ETag='"two"'),
        file(TWO, '"two"'),
    ],
    "the file changed, under a weak ETag": [
        answered(TWO[AT:], f"bytes {AT}-{ONE_ENDS}", ETag='W/"two"'),
        file(TWO, '"two"'),
    ],
    "the file changed, under another date": [
        answered(TWO[AT:], f"bytes {AT}-{ONE_ENDS}", ETag="", Last_Modified=MODIFIED),
        file(TWO, '"two"'),
    ],
    "the file grew, under the same ETag": [
        answered(GREW[AT:], f"bytes {AT}-{len(GREW) - 1}/{len(GREW)}"),
        file(ONE),
    ],
    "another range": [answered(ONE[9:], f"bytes 9-{ONE_ENDS}"), file(ONE)],
    "not to the end": [answered(ONE[AT : AT + 9], f"bytes {AT}-{AT + 8}/{len(ONE)}"), file(ONE)],
    "no range stated": [answered(ONE[AT:], ""), file(ONE)],
    "nonsense stated": [answered(ONE[AT:], "bytes x-y/z"), file(ONE)],
    "out of range": [status(416, Content_Range=f"bytes */{len(ONE)}"), file(ONE)],
    "cut again": [cut(ONE, AT), file(ONE)],  # from the beginning, for the range is ignored
    "cut again, in the rest": [
        answered(ONE[AT:-9], f"bytes {AT}-{ONE_ENDS}", Content_Length=str(len(ONE) - AT)),
        answered(ONE[-9:], f"bytes {len(ONE) - 9}-{ONE_ENDS}"),
    ],
}


def test_no_file_is_made_of_two(tmp_path: Path) -> None:
    with serving(file(ONE)) as site:
        for name, acts in LATER.items():
            site.plan[:], site.asked[:] = [cut(ONE, AT), *acts], []
            result = fetched(f"{site.url}/a.csv", tmp_path / name).file.path.read_bytes()
            assert result == (TWO if "changed" in name else ONE), name
            assert kept_files(tmp_path / name, "a.csv") == [result], name
            # Other content than the rest of this version is not used.
            last = f"bytes={AT}-" if len(acts) == 1 or name == "cut again" else None
            last = f"bytes={len(ONE) - 9}-" if name == "cut again, in the rest" else last
            assert site.ranges[-1] == last, name


def test_what_stays_of_a_failure_is_what_can_be_resumed(tmp_path: Path) -> None:
    """Nothing stays of a file that is too large."""
    for name, etag, stays in (("no version", "", []), ("version", '"one"', [ONE[:AT]])):
        folder = tmp_path / name
        with serving(cut(ONE, AT, etag=etag), status(503)) as site, pytest.raises(BuildError):
            fetched(f"{site.url}/a.csv", folder)
        assert [path.read_bytes() for path in folder.glob("cache/*/part/*")] == stays
    with serving(file(ONE)) as site, pytest.raises(BuildError, match="larger than"):
        fetched(f"{site.url}/a.csv", tmp_path, "", replace(FAST, largest=AT))
    assert list(tmp_path.glob("cache/*/part")) == []


NOTES = (None, "{", "[]", json.dumps({"etag": '"one"', "bytes": "x"}))


def test_a_part_is_complete_and_has_its_note(tmp_path: Path) -> None:
    for note in NOTES:
        folder = tmp_path / str(note)
        with serving(cut(ONE, AT), *MISSING, file(ONE)) as site:
            with pytest.raises(BuildError):
                fetched(f"{site.url}/a.csv", folder)
            (entry,) = folder.glob("cache/*")
            if note is None:
                (entry / "part.json").unlink()
            else:
                (entry / "part.json").write_text(note, encoding="utf-8")
            assert fetched(f"{site.url}/a.csv", folder).file.path.read_bytes() == ONE
        assert site.ranges[-1] is None


def test_one_process_downloads_an_address(tmp_path: Path) -> None:
    with serving(file(ONE)) as site:
        uri = f"{site.url}/a.csv"
        with CacheEntry(tmp_path / "cache", remote(uri, tmp_path)).lock():
            with pytest.raises(BuildError, match="another process is downloading it; wait until"):
                fetched(uri, tmp_path)
            assert site.asked == []
            assert fetched(f"{site.url}/b.csv", tmp_path).changed
        assert fetched(uri, tmp_path).changed


def test_a_strict_entry_is_used_only_if_no_other_user_can_write_it(tmp_path: Path) -> None:
    """Whoever can write a file can write its digest into the note, too."""
    cache = tmp_path / "cache"
    with serving(file(ONE)) as site:
        source = remote(f"{site.url}/a.csv", tmp_path)
        strict = replace(source, strict=True)
        path = fetch(strict, "", cache, Progress(), FAST).file.path
        entry = path.parents[1]
        for open_path in (path, path.parent, entry / "kept.json", entry, cache):
            mode = open_path.stat().st_mode
            open_path.chmod(mode | 0o002)
            text = f"a.csv: its copy in the cache is not safe: {open_path}: every user may write it"
            for call in (
                lambda: fetch(strict, "", cache, Progress(), FAST),
                lambda: ask(strict, "", cache, FAST),
                CacheEntry(cache, strict).current,
            ):
                with pytest.raises(BuildError, match=text):
                    call()
            assert not fetch(source, "", cache, Progress(), FAST).changed
            open_path.chmod(mode)
        assert not fetch(strict, "", cache, Progress(), FAST).changed
