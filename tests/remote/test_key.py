"""A vendor's key is nowhere but in the request: not in errors, files, names, or output.

The server of these tests tells the key back wherever a server can: in the body, the status line,
headers, and redirects.
"""

from __future__ import annotations

import json
import subprocess
import sys
import traceback
from base64 import b64encode, urlsafe_b64encode
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geolookup.errors import BuildError
from tests.builder.building import fails, recipe
from tests.builder.test_progress import Terminal
from tests.conftest import ROOT
from tests.internals.progress import Progress
from tests.internals.remote import Key, ask, fetch, key_of
from tests.remote.serving import FAST, Act, Handler, drop, fetched, file, remote, serving, to
from tests.skips import names_in_utf8

HIDDEN = "s3cr3t/K.ey+7"
QUOTED = "s3cr3t%2FK.ey%2B7"
BASIC = "czNjcjN0"  # how the secret begins in base64
ENV = {"key_env": "VENDOR_KEY"}
ROWS = b"network,isp\n8.8.8.0/24,one\n"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("VENDOR_KEY", HIDDEN)
    (tmp_path / "key.txt").write_text(f"\n{HIDDEN}\r\n", encoding="utf-8")


def is_clean(text: str) -> bool:
    return not any(secret in text for secret in (HIDDEN, QUOTED, BASIC))


def is_clean_error(error: BuildError) -> bool:
    return is_clean("".join(traceback.format_exception(error)) + repr(error.__dict__))


def has_clean_files(folder: Path) -> bool:
    paths = list((folder / "cache").rglob("*"))
    assert paths
    texts = (path.read_bytes().decode("latin-1") for path in paths if path.is_file())
    return all(map(is_clean, (*map(str, paths), *texts)))


WAYS = {
    "header": ("a.csv", ENV),
    "file": ("a.csv", {"key_file": "../key.txt", "key_as": "X-Key"}),
    "query": ("a.csv?key={key}", ENV),
    "path": ("{key}/a.csv", ENV),
}


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


def no_http(handler: Handler) -> None:
    handler.wfile.write(f"{HIDDEN} {handler.path}\r\n".encode())


def refusing(handler: Handler) -> None:
    """A refusal with the status of success."""
    sent = handler.headers.get("Authorization") or handler.headers.get("X-Key") or handler.path
    handler.answer(200, f"Invalid key {sent}, sorry\n".encode(), Content_Type="text/plain")


ACTS: dict[str, Act] = {"drop": drop, "no http": no_http, "a refusal": refusing}
ACTS |= {str(code): telling(code) for code in (200, 302, 401, 404, 416, 418, 429, 500)}


def test_a_refusal_names_the_key_and_its_form(tmp_path: Path) -> None:
    texts = {"key_env": "ACME_KEY", "key_form": "TOKEN (intranet: Vendors)"}
    with serving() as site, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ACME_KEY", "abc")
        site.plan[:] = [telling(401)]
        with pytest.raises(BuildError) as caught:
            fetched(f"{site.url}/a.csv", tmp_path, **texts)
    assert caught.value.remedy == "check the key in ACME_KEY: TOKEN (intranet: Vendors)"


@pytest.mark.parametrize("way", WAYS)
def test_no_file_no_display_and_no_error_holds_it(way: str, tmp_path: Path) -> None:
    path, texts = WAYS[way]
    with serving(file(ROWS)) as site:
        terminal, folder = Terminal(), tmp_path / "whole"
        progress, source = Progress(terminal), remote(f"{site.url}/{path}", folder, **texts)
        with progress.stage(f"fetching {source.file}"):
            done = fetch(source, "", folder / "cache", progress, FAST)
        requested, headers = site.asked[-1]
        assert HIDDEN in str(headers) or QUOTED in requested  # it was sent
        assert is_clean(str(done) + repr(done) + repr(source) + terminal.getvalue())
        assert has_clean_files(folder)
        for name, act in ACTS.items():
            folder, site.plan[:], asked = tmp_path / name, [act], len(site.asked)
            with pytest.raises(BuildError) as caught:
                fetched(f"{site.url}/{path}", folder, **texts)
            assert is_clean_error(caught.value), name
            assert has_clean_files(folder), name
            assert len(site.asked) > asked, name
            assert ("the key in the file" in str(caught.value)) == (act is refusing)
            origin = texts.get("key_env") or texts["key_file"]
            assert (f"check the key in {origin}" in str(caught.value)) == (name == "401")


def test_no_address_and_no_host_of_a_redirect_holds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for host in ("a" * 70 + ".example", "a..example"):
        with pytest.raises(BuildError) as caught:
            fetched(f"https://{host}/a.csv?k={{key}}", tmp_path, key_env="VENDOR_KEY")
        assert is_clean_error(caught.value)
        assert str(caught.value).startswith(f"https://{host}/a.csv?…: is not an address; correct")
    monkeypatch.setenv("VENDOR_KEY", "S3cr3tK3y")
    with serving(to("http://S3cr3tK3y.example/a.csv")) as site:
        source, cache = remote(f"{site.url}/a.csv", tmp_path, key_env="VENDOR_KEY"), tmp_path / "c"
        with pytest.raises(BuildError, match=r"redirects to \{key\}\.example without"):
            ask(source, "", cache, FAST)
        with pytest.raises(BuildError, match=r"redirects to \{key\}\.example without"):
            fetch(source, "", cache, Progress(), FAST)


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
        source = f'path = "{site.url}/a.csv?key={{key}}"\nkey_env = "VENDOR_KEY"'
        path.write_text(recipe(source), "utf-8")
        args = [sys.executable, "-m", "geolookup", "update", "--download-only", str(path)]
        args += ["--cache", str(tmp_path / "cache")]
        done = subprocess.run(args, cwd=ROOT, capture_output=True, text=True, check=True)
    assert QUOTED in site.asked[0][0]
    assert any("geolookup\0update" in entry for entry in seen)
    assert is_clean("".join(seen) + done.stdout + done.stderr)


def test_a_value_is_masked_before_it_is_cut(tmp_path: Path) -> None:
    """Messages show 50 characters: a key that begins before their end would be shown in part."""
    value, shown = "x" * 45 + HIDDEN, f"'{'x' * 45}{{key}}'"
    rows = f"8.8.4.0/24,{value}\n{value},1\n".encode()
    with serving(file(b"network,asn\n" + b"8.8.8.0/24,1\n" * 500 + rows)) as site:
        text = recipe(f'path = "{site.url}/a.csv"\nkey_env = "VENDOR_KEY"')
        rejects = tmp_path / "rejects.csv"
        caught = fails(
            tmp_path, {}, text, cache=tmp_path / "cache", rejects=rejects, max_rejected=0
        )
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
    text = data.draw(st.sampled_from(forms)).join(around)
    key = Key(secret)
    assert key.is_in(text)
    assert not key.is_in(key.mask(text).replace("{key}", " "))


NO_LINE = "is not one line of printable ASCII; write"
#: The key and its place, and words of the error.
MISSING: tuple[tuple[bytes, dict[str, str], str], ...] = (
    (b"", ENV, "no key for https://h.example/a.csv in the environment var"),
    (b"a\nb", ENV, NO_LINE),
    (f"{HIDDEN}\x01".encode(), ENV, NO_LINE),
    (f"{HIDDEN}é".encode(), {"key_file": "k.txt"}, NO_LINE),
    (b"key", ENV | {"key_as": "basic"}, "not of the form user:password; write user"),
    (b"key", ENV | {"key_form": "ID:KEY (at home)"}, "form ID:KEY; write ID:KEY (at"),
    (b"1:", ENV | {"key_form": "ID:KEY"}, "VENDOR_KEY is not of the form ID:KEY"),
    (b"a b", ENV | {"key_form": "TOKEN (there)"}, "is not of the form TOKEN"),
    (b"key\xff", {"key_file": "k.txt"}, "k.txt: the key of https://h.example/a.csv"),
    (b"", {"key_file": "none.txt"}, "none.txt: the key of https://h.example/a.csv cannot be rea"),
)


@names_in_utf8  # and variables of the environment
def test_what_is_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for value, texts, said in MISSING:
        (tmp_path / "k.txt").write_bytes(value)
        monkeypatch.setenv("VENDOR_KEY", value.decode("latin-1"))
        with pytest.raises(BuildError) as caught:
            key_of(remote("https://h.example/a.csv", tmp_path, **texts))
        assert said in str(caught.value)
        assert is_clean_error(caught.value)
