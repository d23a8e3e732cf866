"""A vendor's key is nowhere but in the request: not in errors, files, names, or what is shown.

The server of these tests tells the key back wherever a server can: in the body, the status line,
headers, and redirects.
"""

from __future__ import annotations

import io
import subprocess
import sys
import traceback
from pathlib import Path

import pytest
from geolookup_builder.remote.key import Key, key_of
from geolookup_builder.remote.transfer import fetch

from geolookup.errors import BuildError
from geolookup.progress import Progress
from tests.builder.remote.serving import (
    FAST,
    Act,
    Handler,
    drop,
    fetched,
    file,
    remote,
    serving,
    status,
)
from tests.builder.test_progress import Terminal
from tests.conftest import ROOT

HIDDEN = "s3cr3t/K.ey+7"
QUOTED = "s3cr3t%2FK.ey%2B7"
BASIC = "czNjcjN0"  # how the secret begins in base64
ROWS = b"network,isp\n8.8.8.0/24,one\n"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VENDOR_KEY", HIDDEN)
    (tmp_path / "key.txt").write_text(f"\n{HIDDEN}\r\n")


def telling(code: int) -> Act:
    def act(handler: Handler) -> None:
        told = (handler.headers.get("Authorization") or handler.path).encode()
        handler.send_response_only(code, HIDDEN)
        handler.send_header("Content-Length", str(len(told)))
        handler.send_header("Content-Type", f"text/html; key={HIDDEN}")
        handler.send_header("Content-Encoding", HIDDEN)
        handler.send_header("WWW-Authenticate", f'Basic realm="{HIDDEN}"')
        handler.send_header("Retry-After", HIDDEN)
        handler.send_header("Location", f"ftp://{HIDDEN}")
        handler.end_headers()
        handler.wfile.write(told)

    return act


def clean(text: str) -> bool:
    return not any(secret in text for secret in (HIDDEN, QUOTED, BASIC))


def clean_files(folder: Path) -> bool:
    found = [path for path in (folder / "cache").rglob("*") if clean(str(path))]
    return all(
        not path.is_file() or clean(path.read_bytes().decode("latin-1")) for path in found
    ) and len(found) == len(list((folder / "cache").rglob("*")))


WAYS = {
    "header": ("a.csv", {"key_env": "VENDOR_KEY"}),
    "file": ("a.csv", {"key_file": "key.txt", "key_as": "X-Key"}),
    "query": ("a.csv?key={key}", {"key_env": "VENDOR_KEY"}),
    "path": ("{key}/a.csv", {"key_env": "VENDOR_KEY"}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("code", [200, 302, 401, 404, 416, 418, 429, 500])
def test_no_error_holds_it(code: int, way: str, tmp_path: Path) -> None:
    path, texts = WAYS[way]
    with serving(telling(code)) as site, pytest.raises(BuildError) as caught:
        fetched(f"{site.url}/{path}", tmp_path, **texts)
    whole = "".join(
        traceback.TracebackException.from_exception(caught.value, capture_locals=False).format()
    )
    assert clean(whole)
    assert clean(repr(caught.value.__dict__))
    assert clean_files(tmp_path)
    assert site.asked


@pytest.mark.parametrize("way", WAYS)
def test_no_broken_connection_holds_it(way: str, tmp_path: Path) -> None:
    path, texts = WAYS[way]

    def no_http(handler: Handler) -> None:
        handler.wfile.write(f"{HIDDEN} {handler.path}\r\n".encode())

    for act in (drop, no_http):
        with serving(act) as site, pytest.raises(BuildError) as caught:
            fetched(f"{site.url}/{path}", tmp_path, **texts)
        assert clean("".join(traceback.format_exception(caught.value)))


def test_no_address_that_cannot_be_asked_holds_it(tmp_path: Path) -> None:
    for host in ("a" * 70 + ".example", "a..example"):
        with pytest.raises(BuildError) as caught:
            fetched(f"https://{host}/a.csv?k={{key}}", tmp_path, key_env="VENDOR_KEY")
        assert clean("".join(traceback.format_exception(caught.value)))
        assert str(caught.value).startswith(f"https://{host}/a.csv?…: is not an address; correct")


@pytest.mark.parametrize("way", WAYS)
def test_no_file_and_no_display_holds_it(way: str, tmp_path: Path) -> None:
    path, texts = WAYS[way]
    terminal = Terminal()
    progress = Progress(terminal)
    with serving(file(ROWS)) as site:
        source = remote(f"{site.url}/{path}", tmp_path, **texts)
        with progress.stage(f"fetching {source.file}"):
            done = fetch(source, "", tmp_path / "cache", progress, FAST)
    assert HIDDEN in str(site.asked[0][1]) or QUOTED in site.asked[0][0]  # it was sent
    assert clean(str(done) + repr(done) + repr(source) + terminal.getvalue())
    assert clean_files(tmp_path)


def test_it_is_not_told_in_the_version_of_a_file(tmp_path: Path) -> None:
    """Whoever tells it back in an ETag has it noted nowhere: that ETag is not used."""
    with serving(file(ROWS, f'"{HIDDEN}"')) as site:
        fetched(f"{site.url}/a.csv", tmp_path, key_env="VENDOR_KEY")
    assert clean_files(tmp_path)


def test_it_shows_itself_nowhere() -> None:
    hidden = Key(HIDDEN)
    assert clean(f"{hidden} {hidden!r} {[hidden]}")
    stream = io.StringIO()
    traceback.print_exception(ValueError(hidden), file=stream)
    assert clean(stream.getvalue())


def test_no_process_has_it_in_its_arguments(tmp_path: Path) -> None:
    """Looked up where others can look: while the server waits, in the list of processes."""
    seen: list[str] = []

    def look(handler: Handler) -> None:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                seen.append(path.read_bytes().decode("latin-1"))
            except OSError:
                continue
        handler.answer(200, ROWS)

    if not Path("/proc/self/cmdline").exists():
        pytest.skip("no /proc here")
    with serving(look) as site:
        (tmp_path / "recipe.toml").write_text(
            '[dataset]\nname = "t"\n[[source]]\nformat = "csv"\n'
            f'path = "{site.url}/a.csv?key={{key}}"\nkey_env = "VENDOR_KEY"\n'
        )
        args = [sys.executable, "-m", "geolookup", "download", str(tmp_path / "recipe.toml")]
        done = subprocess.run(
            [*args, "--cache", str(tmp_path / "cache")],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    assert QUOTED in site.asked[0][0]
    assert any("geolookup\0download" in each for each in seen)
    assert clean("".join(seen) + done.stdout + done.stderr)


MISSING = {
    "VENDOR_KEY": ("", "no key for https://h.example/a.csv in the environment variable VENDOR_KEY"),
    "two lines": ("a\nb", "the key in the environment variable VENDOR_KEY is not one line"),
    "control": (f"{HIDDEN}\x01", "is not one line of printable ASCII; correct"),
    "accents": (f"{HIDDEN}é", "is not one line of printable ASCII; correct"),
}


@pytest.mark.parametrize("name", MISSING)
def test_what_is_no_key(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    value, text = MISSING[name]
    monkeypatch.setenv("VENDOR_KEY", value)
    with pytest.raises(BuildError) as caught:
        key_of(remote("https://h.example/a.csv", tmp_path, key_env="VENDOR_KEY"))
    assert text in str(caught.value)
    assert clean(str(caught.value))


def test_a_key_file_that_is_none(tmp_path: Path) -> None:
    source = remote("https://h.example/a.csv", tmp_path, key_file="none.txt")
    with pytest.raises(BuildError, match=r"none\.txt: the key of .* cannot be read .No such file"):
        key_of(source)
    (tmp_path / "none.txt").write_bytes(HIDDEN.encode() + b"\xff")
    with pytest.raises(BuildError, match="not a text") as caught:
        key_of(source)
    lines = traceback.format_exception(caught.value)
    assert clean("".join(lines))


def test_basic_wants_a_colon(tmp_path: Path) -> None:
    source = remote("https://h.example/a.csv", tmp_path, key_env="VENDOR_KEY", key_as="basic")
    with pytest.raises(BuildError, match="has no colon; write user:password"):
        key_of(source)


def test_a_refusal_names_where_the_key_is(tmp_path: Path) -> None:
    with (
        serving(status(401)) as site,
        pytest.raises(BuildError, match=r"refuses access .401.; check the key in key\.txt"),
    ):
        fetched(f"{site.url}/a.csv", tmp_path, key_file="key.txt")
