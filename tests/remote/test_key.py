"""A vendor's key is nowhere but in the request: not in errors, files, names, or output.

The server of these tests tells the key back wherever a server can: in the body, the status line,
headers, and redirects.
"""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
import traceback
import zipfile
from base64 import b64encode, urlsafe_b64encode
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.errors import BuildError
from geolookup.progress import Progress
from geolookup.remote.key import Key, key_of
from geolookup.remote.transfer import ask, fetch
from tests.builder.building import fails, recipe
from tests.builder.sources.reading.test_inputs import zipped as packed
from tests.builder.test_progress import Terminal
from tests.conftest import ROOT
from tests.remote.serving import (
    FAST,
    Act,
    Handler,
    drop,
    fetched,
    file,
    remote,
    serving,
    status,
    to,
)
from tests.skips import names_in_utf8

HIDDEN = "s3cr3t/K.ey+7"
QUOTED = "s3cr3t%2FK.ey%2B7"
BASIC = "czNjcjN0"  # how the secret begins in base64
ROWS = b"network,isp\n8.8.8.0/24,one\n"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VENDOR_KEY", HIDDEN)
    (tmp_path / "key.txt").write_text(f"\n{HIDDEN}\r\n", encoding="utf-8")


def telling(code: int) -> Act:
    def act(handler: Handler) -> None:
        told = (handler.headers.get("Authorization") or handler.path).encode()
        handler.send_response_only(code, HIDDEN)
        for name, value in {
            "Content-Length": str(len(told)),
            "Content-Type": f"text/html; key={HIDDEN}",
            "Content-Encoding": HIDDEN,
            "WWW-Authenticate": f'Basic realm="{HIDDEN}"',
            "Retry-After": HIDDEN,
            "Location": f"ftp://{HIDDEN}",
        }.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(told)

    return act


def zipped(name: str, content: bytes) -> bytes:
    # Not compressed: the name is not at the beginning.
    files = {"LICENSE.txt": "licence\n" * 1000, name: content.decode()}
    return packed(files, zipfile.ZIP_STORED)


def clean(text: str) -> bool:
    return not any(secret in text for secret in (HIDDEN, QUOTED, BASIC))


def clean_files(folder: Path) -> bool:
    paths = list((folder / "cache").rglob("*"))
    assert paths
    return all(
        clean(str(path)) and (path.is_dir() or clean(path.read_bytes().decode("latin-1")))
        for path in paths
    )


WAYS = {
    "header": ("a.csv", {"key_env": "VENDOR_KEY"}),
    "file": ("a.csv", {"key_file": "../key.txt", "key_as": "X-Key"}),
    "query": ("a.csv?key={key}", {"key_env": "VENDOR_KEY"}),
    "path": ("{key}/a.csv", {"key_env": "VENDOR_KEY"}),
}


def no_http(handler: Handler) -> None:
    handler.wfile.write(f"{HIDDEN} {handler.path}\r\n".encode())


def refusing(handler: Handler) -> None:
    """A refusal with the status of success."""
    sent = handler.headers.get("Authorization") or handler.headers.get("X-Key") or handler.path
    handler.answer(200, f"Invalid key {sent}, sorry\n".encode(), Content_Type="text/plain")


ACTS: dict[str, Act] = {"drop": drop, "no http": no_http, "a refusal": refusing}
ACTS |= {str(code): telling(code) for code in (200, 302, 401, 404, 416, 418, 429, 500)}
ACTS["a refusal"] = refusing


@pytest.mark.parametrize("way", WAYS)
def test_no_error_holds_it(way: str, tmp_path: Path) -> None:
    path, texts = WAYS[way]
    with serving(drop) as site:
        for name, act in ACTS.items():
            folder, site.plan[:], asked = tmp_path / name, [act], len(site.asked)
            folder.mkdir()
            with pytest.raises(BuildError) as caught:
                fetched(f"{site.url}/{path}", folder, **texts)
            assert clean("".join(traceback.format_exception(caught.value))), name
            assert clean(repr(caught.value.__dict__)), name
            assert clean_files(folder), name
            assert len(site.asked) > asked, name
            assert ("the key in the file" in str(caught.value)) == (act is refusing)


def test_no_address_and_no_host_of_a_redirect_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for host in ("a" * 70 + ".example", "a..example"):
        with pytest.raises(BuildError) as caught:
            fetched(f"https://{host}/a.csv?k={{key}}", tmp_path, key_env="VENDOR_KEY")
        assert clean("".join(traceback.format_exception(caught.value)))
        assert str(caught.value).startswith(f"https://{host}/a.csv?…: is not an address; correct")
    monkeypatch.setenv("VENDOR_KEY", "S3cr3tK3y")
    with serving(to("http://S3cr3tK3y.example/a.csv")) as site:
        source = remote(f"{site.url}/a.csv", tmp_path, key_env="VENDOR_KEY")
        for call in (
            lambda: ask(source, "", tmp_path / "cache", FAST),
            lambda: fetch(source, "", tmp_path / "cache", Progress(), FAST),
        ):
            with pytest.raises(BuildError, match=r"redirects to \{key\}\.example without"):
                call()


def test_no_file_and_no_display_holds_it(tmp_path: Path) -> None:
    with serving(file(ROWS)) as site:
        for name, (path, texts) in WAYS.items():
            terminal, folder = Terminal(), tmp_path / name
            progress = Progress(terminal)
            source = remote(f"{site.url}/{path}", folder, **texts)
            folder.mkdir()
            with progress.stage(f"fetching {source.file}"):
                done = fetch(source, "", folder / "cache", progress, FAST)
            asked, headers = site.asked[-1]
            assert HIDDEN in str(headers) or QUOTED in asked, name  # it was sent
            assert clean(str(done) + repr(done) + repr(source) + terminal.getvalue()), name
            assert clean_files(folder), name


def test_it_shows_itself_nowhere() -> None:
    hidden = Key(HIDDEN)
    assert clean(f"{hidden} {hidden!r} {[hidden]}")
    stream = io.StringIO()
    traceback.print_exception(ValueError(hidden), file=stream)
    assert clean(stream.getvalue())
    assert Key("1234:s3cr3t").mask("no S3cr3t of 1234:s3cr3t") == "no {key} of {key}"


def test_no_process_has_it_in_its_arguments(tmp_path: Path) -> None:
    """Looked up where others can look: while the server waits, in the list of processes."""
    seen: list[str] = []

    def look(handler: Handler) -> None:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with suppress(OSError):
                seen.append(path.read_bytes().decode("latin-1"))
        handler.answer(200, ROWS)

    if not Path("/proc/self/cmdline").exists():
        pytest.skip("no /proc here")
    path = tmp_path / "recipe.toml"
    with serving(look) as site:
        path.write_text(
            recipe(f'path = "{site.url}/a.csv?key={{key}}"\nkey_env = "VENDOR_KEY"'), "utf-8"
        )
        args = [sys.executable, "-m", "geolookup", "download", str(path)]
        args += ["--cache", str(tmp_path / "cache")]
        done = subprocess.run(args, cwd=ROOT, capture_output=True, text=True, check=True)
    assert QUOTED in site.asked[0][0]
    assert any("geolookup\0download" in entry for entry in seen)
    assert clean("".join(seen) + done.stdout + done.stderr)


PADDING = b"8.8.8.0/24,one\n" * 500  # the key is not at the beginning
KEPT = {
    "row": b"network,isp\n" + PADDING + f"{HIDDEN},one\n".encode(),
    "header": gzip.compress(f"network,{HIDDEN}\n".encode() + PADDING),
    "quoted": gzip.compress(f"network,{QUOTED}\n".encode() + PADDING),
    "name": zipped(f"{HIDDEN}/a.csv", b"network,no\n" + PADDING),
    "member": zipped(f"{HIDDEN}/a.csv", b"network,isp\nnone,one\n"),
}


@pytest.mark.parametrize("name", KEPT)
def test_no_error_of_a_build_holds_it(name: str, tmp_path: Path) -> None:
    file_name = {b"PK": "a.zip", b"\x1f\x8b": "a.csv.gz"}.get(KEPT[name][:2], "a.csv")
    cache, rejects = tmp_path / "cache", tmp_path / "rejects.csv"
    with serving(file(KEPT[name])) as site:
        source = f'path = "{site.url}/{file_name}"\nkey_env = "VENDOR_KEY"'
        for kind in ("csv", "auto", "maxmind"):
            rejects.unlink(missing_ok=True)
            text = recipe(source).replace('"csv"', f'"{kind}"')
            caught = fails(tmp_path, {}, text, cache=cache, rejects=rejects, max_rejects=0)
            assert clean("".join(traceback.format_exception(caught))), kind
            assert rejects.exists() == (name in ("row", "member")), kind
            assert not rejects.exists() or clean(rejects.read_text(encoding="utf-8")), kind


def test_a_value_is_masked_before_it_is_cut(tmp_path: Path) -> None:
    """Messages show 50 characters: a key that begins before their end would be shown in part."""
    value, shown = "x" * 45 + HIDDEN, f"'{'x' * 45}{{key}}'"
    rows = f"8.8.4.0/24,{value}\n{value},1\n".encode()
    with serving(file(b"network,asn\n" + b"8.8.8.0/24,1\n" * 500 + rows)) as site:
        text = recipe(f'path = "{site.url}/a.csv"\nkey_env = "VENDOR_KEY"')
        rejects = tmp_path / "rejects.csv"
        caught = fails(tmp_path, {}, text, cache=tmp_path / "cache", rejects=rejects, max_rejects=0)
    assert f"not an address: {shown[:-1]}" in str(caught)
    written = rejects.read_text("utf-8")
    assert f"nulled: asn {shown} is not an AS number" in written
    assert HIDDEN[:4] not in written + str(caught)


@given(
    secret=st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=4),
    around=st.tuples(st.text(), st.text()),
    data=st.data(),
)
def test_every_form_of_it_is_masked(
    secret: str, around: tuple[str, str], data: st.DataObject
) -> None:
    encoded = b64encode(secret.encode()).decode()
    forms = [secret, encoded, urlsafe_b64encode(secret.encode()).decode().rstrip("=")]
    forms += [quote(item, safe=safe) for item in (secret, encoded) for safe in ("", "/:")]
    forms += [quote(secret, safe="").lower(), json.dumps(secret)[1:-1], repr(secret)[1:-1]]
    form = data.draw(st.sampled_from(forms))
    text = around[0] + form + around[1]
    key = Key(secret)
    assert key.is_in(text)
    assert not key.is_in(key.mask(text).replace("{key}", " "))


MISSING = {
    "": "no key for https://h.example/a.csv in the environment variable VENDOR_KEY",
    "a\nb": "the key in the environment variable VENDOR_KEY is not one line",
    f"{HIDDEN}\x01": "is not one line of printable ASCII; correct",
    f"{HIDDEN}é": "is not one line of printable ASCII; correct",
}


@names_in_utf8  # and variables of the environment
def test_what_is_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    address = "https://h.example/a.csv"
    for value, said in MISSING.items():
        monkeypatch.setenv("VENDOR_KEY", value)
        with pytest.raises(BuildError, match=said) as caught:
            key_of(remote(address, tmp_path, key_env="VENDOR_KEY"))
        assert clean(str(caught.value))
    monkeypatch.setenv("VENDOR_KEY", HIDDEN)
    with pytest.raises(BuildError, match="has no colon; write user:password"):
        key_of(remote(address, tmp_path, key_env="VENDOR_KEY", key_as="basic"))
    source = remote("https://h.example/a.csv", tmp_path, key_file="none.txt")
    with pytest.raises(BuildError, match=r"none\.txt: the key of .* cannot be read .No such file"):
        key_of(source)
    (tmp_path / "none.txt").write_bytes(HIDDEN.encode() + b"\xff")
    with pytest.raises(BuildError, match="not a text") as caught:
        key_of(source)
    assert clean("".join(traceback.format_exception(caught.value)))
    with (
        serving(status(401)) as site,
        pytest.raises(BuildError, match=r"refuses access .401.; check the key in key\.txt"),
    ):
        fetched(f"{site.url}/a.csv", tmp_path, key_file="key.txt")
