"""What a recipe may say of a place elsewhere, and the text of every error."""

from __future__ import annotations

from pathlib import Path

import pytest
from geolookup_builder.recipe import SourceSpec, load
from geolookup_builder.remote.cache import default_folder
from geolookup_builder.sources import FORMATS, auto

from geolookup.errors import BuildError

START = '[dataset]\nname = "d"\n[[source]]\nformat = "csv"\npath = "'
FORMATS_KNOWN = auto.options(FORMATS)


def loaded(folder: Path, keys: str) -> SourceSpec:
    path = folder / "recipe.toml"
    path.write_text(START + keys, encoding="utf-8")
    (source,) = load(path, FORMATS_KNOWN).sources
    return source


def test_an_address_with_everything(tmp_path: Path) -> None:
    digest = "0a" * 32
    keys = f'HTTPS://h.example:8443/d/a.csv.gz?v=1"\nsha256 = "{digest.upper()}"\nkey_env = "K"\n'
    source = loaded(tmp_path, f'{keys}key_as = "X-Api-Key"\ninsecure = false\nfamily = 6\n')
    assert source.remote is not None
    assert (source.sha256, source.options) == (digest, {"family": 6})
    assert (source.name, source.remote.file, source.remote.scheme) == ("a.csv.gz",) * 2 + ("https",)
    assert source.remote.shown == "https://h.example:8443/d/a.csv.gz?…"


def test_names_and_schemes(tmp_path: Path) -> None:
    source = loaded(tmp_path, 'https://h.example/get?id=7"\nfile = "a.zip"\n')
    assert source.name == "a.zip"
    source = loaded(tmp_path, 'https://h.example/get?id=7"\nfile = "a.zip"\nname = "N"\n')
    assert source.name == "N"
    for path in ("s3://b/d/a.csv?region=eu-west-1", "gs://b/a.csv", "http://127.0.0.1:1/a.csv"):
        source = loaded(tmp_path, f'{path}"\n')
        assert source.remote is not None
        assert (source.path, source.name) == (path, "a.csv")
    for host in ("", "localhost"):  # a file of this machine
        source = loaded(tmp_path, f'file://{host}/data/a%20b/*.csv"\n')
        assert (source.remote, source.path) == (None, "/data/a b/*.csv")


def test_the_same_place_has_the_same_folder_whatever_the_key(tmp_path: Path) -> None:
    one = loaded(tmp_path, 'https://h.example/a.csv?k={key}"\nkey_env = "K"\n').remote
    two = loaded(tmp_path, 'https://h.example/a.csv?k={key}"\nkey_file = "f"\n').remote
    three = loaded(tmp_path, 'https://h.example/a.csv?k=3"\n').remote
    assert one is not None
    assert two is not None
    assert three is not None
    assert one.identity == two.identity != three.identity


WRONG = {
    'ftp://h.example/a.csv"': "unknown scheme ftp:// in source.path; known are https",
    'htps://h.example/a.csv"': "unknown scheme htps:// in source.path; did you mean 'https'?",
    'http://h.example/a.csv"': "http://h.example/a.csv is not encrypted; write https://",
    'http://127.0.0.1.nip.example/a.csv"': "http://127.0.0.1.nip.example/a.csv is not encrypted",
    'https://u:p@h.example/a.csv"': "https://h.example/a.csv holds a user or a password; give them",
    'https://h.example/a.csv#x"': "https://h.example/a.csv is not the address of a file",
    'https:///a.csv"': "https:///a.csv is not the address of a file",
    'https://[::1/a.csv"': "https:///… does not end in a plain file name",
    'https://h.example:x/a.csv"': "https:///… does not end in a plain file name",
    'https://h.example/"': "https://h.example/ does not end in a plain file name; state the name",
    'https://h.example"': "https://h.example does not end in a plain file name",
    'https://h.example/..%2Fa"': "https://h.example/..%2Fa does not end in a plain file name",
    's3://b/part-*.csv"': "s3://b/part-*.csv does not end in a plain file name",
    'https://h.example/a.csv"\nfile = "../a"': "https://h.example/a.csv does not end in a plain",
    'https://h.example/a.csv"\nfile = ".a"': "https://h.example/a.csv does not end in a plain",
    'https://h.example/a.csv"\nsha256 = "0a"': "source.sha256 is not 64 hexadecimal digits",
    'https://h.example/a.csv"\nsha256 = 1': "source.sha256 is not a text",
    'https://h.example/a.csv"\ninsecure = 1': "source.insecure is neither true nor false",
    'https://h.example/a.csv"\nkey_as = "basic"': "no key for the source; state key_env",
    'https://h.example/a.csv?{key}"': "no key for the source; state key_env",
    'https://{key}.example/a.csv"\nkey_env = "K"': "https://{key}.example/a.csv has {key} for its",
    'https://h.example/a.csv?{key}"\nkey_env = "K"\nkey_as = "basic"': "both {key} and source",
    'https://h.example/a.csv"\nkey_env = "K"\nkey_file = "f"': "both source.key_env and key_file",
    'https://h.example/a.csv"\nkey_env = "K"\nkey_as = "a b"': "source.key_as is 'a b'; write bear",
    's3://b/a.csv"\nkey_env = "K"': "source.key_env has no meaning for a path of s3; drop it",
    'file:///a.csv"\nfile = "b"': "source.file has no meaning for a path of file; drop it",
    'file://h.example/a.csv"': "file://h.example/a.csv is not a local file; write file:///",
    'a.csv"\nfile = "b.csv"': "source.file without an address; drop it",
    'a.csv"\ninsecure = true': "source.insecure without an address; drop it",
    'a.csv"\nkey_env = "K"': "source.key_env without an address; drop it",
    'a.csv"\nsha = "K"': "unknown key source.sha; did you mean 'sha256'?",
}


def test_every_error_says_what_and_what_to_do(tmp_path: Path) -> None:
    for keys, said in WRONG.items():
        with pytest.raises(BuildError) as caught:
            loaded(tmp_path, keys)
        assert str(caught.value).startswith(f"{tmp_path / 'recipe.toml'}: {said}")
        assert "u:p" not in str(caught.value)


def test_the_cache_is_where_the_system_has_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    for system, named, folder in (
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/geolookup"),
        ("linux", {"HOME": "/h", "XDG_CACHE_HOME": ""}, "/h/.cache/geolookup"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Caches/geolookup"),
        ("linux", {"GEOLOOKUP_CACHE": "/c", "XDG_CACHE_HOME": "/x"}, "/c"),
    ):
        with monkeypatch.context() as patch:
            patch.delenv("GEOLOOKUP_CACHE", raising=False)
            patch.setattr("sys.platform", system)
            for name, value in named.items():
                patch.setenv(name, value)
            assert default_folder().as_posix() == folder
