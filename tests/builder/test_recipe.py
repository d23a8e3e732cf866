"""Recipes: what a good one means, of places elsewhere and ``[enrich]``; the text of every error."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path

import pytest

from geolookup.errors import BuildError
from tests.builder.building import fails, recipe
from tests.internals.builder import Recipe, SourceSpec, auto, read_recipe
from tests.internals.contract import BY_SOURCE_COLUMN
from tests.internals.store import Retention

GOOD = '[dataset]\nname = "d"\n[[source]]\nformat = "csv"\npath = "a.csv"\n'


def loaded(folder: Path, text: str | bytes) -> Recipe:
    path = folder / "recipe.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_recipe(path, auto.options())


def test_what_a_recipe_means(tmp_path: Path) -> None:
    recipe = loaded(tmp_path, GOOD)
    (source,) = recipe.sources
    assert (recipe.name, recipe.countries, source.path) == ("d", None, "a.csv")
    assert (source.name, source.base, dict(source.options)) == ("a.csv", tmp_path, {})
    assert source.fields == frozenset(BY_SOURCE_COLUMN)
    texts = 'name = "N"\ndate = 2026-11-20\nlicence = "L"\nattribution = "A"\nurl = "U"\n'
    text = f'{GOOD}{texts}fields = ["network.asn", "isp", "lat"]\nfamily = 6\n'
    text += '[tables]\ncountries = "c.csv"\n'
    recipe = loaded(tmp_path, text)
    (source,) = recipe.sources
    assert source.fields == {"asn", "isp", "latitude"}
    assert source.options == {"family": 6}
    assert source.texts["date"] == dt.date(2026, 11, 20).isoformat()
    assert (source.name, recipe.countries) == ("N", tmp_path / "c.csv")
    recipe = loaded(tmp_path, '[[source]]\npath = "a.csv"\n')
    assert (recipe.name, recipe.sources[0].format) == ("recipe", "auto")
    recipe = loaded(tmp_path, GOOD + '[[source]]\nformat = "csv"\npath = "/secret/b*.csv"\n')
    assert [source.name for source in recipe.sources] == ["a.csv", "b*.csv"]
    plain = loaded(tmp_path, GOOD)
    assert (plain.fail_if, plain.retention) == (None, Retention())
    stated = '[update]\nfail_if = ["country_moved > 2%", "km_p99 > 500"]\nkeep = 5\n'
    recipe = loaded(tmp_path, GOOD + stated)
    assert recipe.fail_if == recipe.gates == ("country_moved > 2%", "km_p99 > 500")
    assert recipe.retention == Retention(5)
    year = loaded(tmp_path, GOOD + '[update]\nkeep_for = "1y"\n').retention
    assert year == Retention.of(keep_for="1y")


NO_PATH = 'source.path is missing; write path = "…"'
WRONG = {
    "": NO_PATH,
    "[[source]]": NO_PATH,
    "dataset = 1": "dataset is not a table; write [dataset]",
    GOOD.replace('"d"', "1"): 'dataset.name is not a text; write name = "…"',
    '[dataset]\nnam = "d"': "unknown key dataset.nam; did you mean 'name'?",
    '[dataset]\nname = "d"\n[source]\nx = 1\n': "source is not a list of tables; write [[source]]",
    'source = [1]\n[dataset]\nname = "d"': "source is not a list of tables; write [[source]]",
    GOOD.replace('"d"', '"d"\nfields = []'): "dataset.fields is empty",
    GOOD.replace('"d"', '"d"\nfields = ["land"]'): "dataset.fields: no field 'land'",
    GOOD.replace('"d"', '"d"\nfields = ["currency"]'): "dataset.fields: currency follows from",
    "[datset]\n": "unknown key datset; did you mean 'dataset'?",
    GOOD.replace('"csv"', '"cvs"'): "unknown format 'cvs'; did you mean 'csv'?",
    GOOD + "date = 07:00:00": 'source.date is not a text; write date = "…"',
    GOOD + 'date = "next week"': (
        "source.date is 'next week', not a date of ISO 8601; write date = "
        '"2026-11-20", "2026-11" or "last-modified"'
    ),
    GOOD + "license = 'x'": "unknown key source.license; did you mean 'licence'?",
    GOOD + 'fields = "asn"': 'source.fields is not a list; write fields = ["country_code"]',
    GOOD + "fields = []": "source.fields is empty; write fields = [",
    GOOD + 'fields = ["country_name"]': (
        "source.fields: country_name follows from other fields, no source states it; leave it out"
    ),
    GOOD.replace('"csv"', '"xyz"'): "unknown format 'xyz'; format = \"auto\" detects the format",
    GOOD + 'fields = ["asm"]': "source.fields: no field 'asm'; did you mean 'asn'?",
    GOOD + "fields = [[1]]": "source.fields: a field is a text; write several texts",
    GOOD + "[tables]\ncountry = 'c'": "unknown key tables.country; did you mean 'countries'?",
    GOOD + "[tables]\ncountries = 5": 'tables.countries is not a text; write countries = "…"',
    'tables = 5\n[dataset]\nname = "d"\n' + GOOD[21:]: "tables is not a table; write [tables]",
    GOOD + "[update]\nkep = 3": "unknown key update.kep; did you mean 'keep'?",
    GOOD + "[update]\nkeep = 0": "update.keep is 0; it is a number of generations, 1 or more",
    GOOD + '[update]\nkeep_for = "March"': "update.keep_for is 'March'; write hours, days,",
    GOOD + '[update]\nkeep = 2\nkeep_for = "1y"': "update.keep and keep_for are both given",
    GOOD + "[update]\nfail_if = 'x > 1'": "update.fail_if is not a list of texts; write fail_if",
    GOOD + "[update]\nfail_if = ['country_moved']": "update.fail_if: malformed gate",
    GOOD + "[update]\nfail_if = ['contry_moved > 1%']": "update.fail_if: no metric 'contry_moved'"
    " in gate 'contry_moved > 1%'; did you mean 'country_moved'?",
    "[dataset": "not TOML: ",
    "a = " + "[" * 100_000: "not TOML: ",
    # Found by fuzzing: an integer that Python would not read, and an error of two lines.
    "a = 1"
    + "0" * 5000: "not TOML: Exceeds the limit (4300 digits) for integer string conversion: "
    "value has 5001 digits; use sys.set_int_max_str_digits() to increase the limit; correct the "
    "recipe",
    '"a\\nb\\u2028" = 1': "unknown key a\\nb\\u2028; known are dataset, columns, source,",
}


def test_every_error_says_what_and_what_to_do(tmp_path: Path) -> None:
    for text, said in WRONG.items():
        with pytest.raises(BuildError) as caught:
            loaded(tmp_path, text)
        assert str(caught.value).startswith(f"{tmp_path / 'recipe.toml'}: {said}"), text[:100]
    with pytest.raises(BuildError, match=r"not TOML: .*; correct the recipe"):
        loaded(tmp_path, b"name = '\xff'")
    for path, reason in ((tmp_path, "Is a directory"), (tmp_path / "x", "No such file")):
        with pytest.raises(BuildError) as caught:
            read_recipe(path, {})
        problem = f"{path}: the recipe cannot be read ({reason}"
        assert str(caught.value).startswith(problem)
    for keys, said in REMOTE_WRONG.items():
        with pytest.raises(BuildError) as caught:
            source_of(tmp_path, keys)
        assert str(caught.value).startswith(f"{tmp_path / 'recipe.toml'}: {said}")
        assert "u:p" not in str(caught.value)


# --- places elsewhere


def source_of(folder: Path, keys: str) -> SourceSpec:
    """The source of a recipe whose path, and keys after it, are these."""
    (source,) = loaded(folder, GOOD.replace('a.csv"\n', keys)).sources
    return source


def test_addresses(tmp_path: Path) -> None:
    digest = "0a" * 32
    keys = f'HTTPS://h.example:8443/d/a.csv.gz?v=1"\nsha256 = "{digest.upper()}"\nkey_env = "K"\n'
    source = source_of(tmp_path, f'{keys}key_as = "X-Api-Key"\ninsecure = false\nfamily = 6\n')
    assert source.remote is not None
    assert (source.sha256, source.options) == (digest, {"family": 6})
    assert (source.name, source.remote.file, source.remote.scheme) == ("a.csv.gz",) * 2 + ("https",)
    assert source.remote.safe_uri == "https://h.example:8443/d/a.csv.gz?…"
    source = source_of(tmp_path, 'https://h.example/get?id=7"\nfile = "a.zip"\n')
    assert source.name == "a.zip"
    source = source_of(tmp_path, 'https://h.example/get?id=7"\nfile = "a.zip"\nname = "N"\n')
    assert source.name == "N"
    for path in ("s3://b/d/a.csv?region=eu-west-1", "gs://b/a.csv", "http://127.0.0.1:1/a.csv"):
        source = source_of(tmp_path, f'{path}"\n')
        assert source.remote is not None
        assert (source.path, source.name) == (path, "a.csv")
    for host in ("", "localhost"):  # a file of this machine
        source = source_of(tmp_path, f'file://{host}/data/a%20b/*.csv"\n')
        assert (source.remote, source.path) == (None, "/data/a b/*.csv")
    one = source_of(tmp_path, 'https://h.example/a.csv?k={key}"\nkey_env = "K"\n').remote
    two = source_of(tmp_path, 'https://h.example/a.csv?k={key}"\nkey_file = "f"\n').remote
    three = source_of(tmp_path, 'https://h.example/a.csv?k=3"\n').remote
    assert one is not None
    assert two is not None
    assert three is not None
    assert one.identity == two.identity != three.identity


REMOTE_WRONG = {
    'ftp://h.example/a.csv"': "unknown scheme ftp:// in source.path; known are https",
    'htps://h.example/a.csv"': "unknown scheme htps:// in source.path; did you mean 'https'?",
    'http://h.example/a.csv"': "http://h.example/a.csv is not encrypted; write https://",
    'http://127.0.0.1.nip.example/a.csv"': "http://127.0.0.1.nip.example/a.csv is not encrypted",
    'https://u:p@h.example/a.csv"': "https://h.example/a.csv holds a user or a password; give them",
    'https://h.example/a.csv#x"': "https://h.example/a.csv is not the address of a file",
    'https://[::1/a.csv"': "https:///… does not end in a plain file name",
    'https://h.example/"': "https://h.example/ does not end in a plain file name; state the name",
    'https://h.example/..%2Fa"': "https://h.example/..%2Fa does not end in a plain file name",
    's3://b/part-*.csv"': "s3://b/part-*.csv does not end in a plain file name",
    'https://h.example/a.csv"\nfile = "../a"': "https://h.example/a.csv does not end in a plain",
    'https://h.example/{day}.csv"': "https://h.example/{day}.csv does not end in a plain file",
    'https://h.example/a.csv"\nfile = "a-{month}.csv"': "https://h.example/a.csv does not end in a",
    f'https://h.example/{{month}}.csv"\nsha256 = "{0:064}"': "source.sha256 is of the file of one",
    'https://h.example/a.csv"\nsha256 = "0a"': "source.sha256 is not 64 hexadecimal digits",
    'https://h.example/a.csv"\nsha256 = 1': "source.sha256 is not a text",
    'https://h.example/a.csv"\ninsecure = 1': "source.insecure is neither true nor false",
    'https://h.example/a.csv"\nkey_as = "basic"': "no key for the source; state key_env",
    'https://h.example/a.csv?{key}"': "no key for the source; state key_env",
    'https://{key}.example/a.csv"\nkey_env = "K"': "https://{key}.example/a.csv is not the",
    'https://h.example/a.csv?{key}"\nkey_env = "K"\nkey_as = "basic"': "both {key} and source",
    'https://h.example/a.csv"\nkey_env = "K"\nkey_file = "f"': "both source.key_env and key_file",
    'https://h.example/a.csv"\nkey_env = "K"\nkey_as = "a b"': "source.key_as is 'a b'; write bear",
    's3://b/a.csv"\nkey_env = "K"': "source.key_env has no meaning for a path of s3; drop it",
    'file:///a.csv"\nfile = "b"': "source.file has no meaning for a path of file; drop it",
    'file://h.example/a.csv"': "file://h.example/a.csv is not a local file; write file:///",
    'a.csv"\nfile = "b.csv"': "source.file without an address; drop it",
    'a.csv"\nkey_env = "K"': "source.key_env without an address; drop it",
    'a.csv"\nsha = "K"': "unknown key source.sha; did you mean 'sha256'?",
}


PLAIN = recipe("path = 'a.csv'")
FILES: dict[str, str | bytes] = {"a.csv": "network,isp\n8.8.8.0/24,x\n"}
LIBRARIES = {
    "time_zone": ("tzfpy", "time_zone = true"),
    "region_code": ("pycountry", "region_code = true"),
}


@pytest.mark.parametrize("key", LIBRARIES)
def test_a_library_that_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    library, text = LIBRARIES[key]
    for name in [item for item in sys.modules if item.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    error = fails(tmp_path, {**FILES, "a.csv": "no range at all"}, f"{PLAIN}[enrich]\n{text}")
    assert error.problem.startswith(f"enrich.{key} needs {library} (")
    assert error.remedy == 'pip install "geolookup[enrich]"'
    assert not (tmp_path / "dataset").exists()
