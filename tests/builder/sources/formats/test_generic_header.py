"""The header of the generic CSV: what it may be, and the text of every error."""

from __future__ import annotations

from pathlib import Path

from geolookup_builder.schema import FIELDS

from tests.builder.building import fails, recipe
from tests.builder.sources.readings import Read

GOOD: list[bytes] = [
    b"network,isp\n8.8.8.0/24,x\n",
    b"isp,network\nx,8.8.8.0/24\n",
    b'"network","isp"\n8.8.8.0/24,x\n',
    b"last,isp,first\n8.8.8.255,x,8.8.8.0\n",
    b"\xef\xbb\xbfnetwork,isp\r\n\r\n8.8.8.0/24,x",
    b'network,isp\n"8.8.8.0/24","x"\n\n\n',
]


def test_what_is_a_header(read: Read) -> None:
    for content in GOOD:
        reading = read({"a.csv": content})
        assert (reading.source.read, reading.source.used) == (1, 1), content
        assert reading.values("isp", "8.8.8.8", "8.8.9.1") == ["x", None], content


def test_a_header_alone_is_a_source_of_no_rows(read: Read) -> None:
    for content in ("network,isp", "network,isp\n", "network\n", "first,last"):
        reading = read({"a.csv": content})
        assert reading.source.read == 0, content
        assert reading.intervals() == [(4, 0, {}), (6, 0, {})], content


KNOWN = "known are network, first, last, continent_code"
OTHERS = " (a recipe states other names in [source.columns])"
NO_RANGE = "no range in the header; name the range as network, or as first and last" + OTHERS
WRONG = {
    "network,cuntry_code\n": f"unknown column 'cuntry_code'; did you mean 'country_code'?{OTHERS}",
    "netwrok\n": "unknown column 'netwrok'; did you mean 'network'?",
    "network,Country_Code\n": "unknown column 'Country_Code'; did you mean 'country_code'?",
    "network, isp\n": "unknown column ' isp'; did you mean 'isp'?",
    "network,\n": f"unknown column ''; {KNOWN}",
    "network,xyzzy\n": f"unknown column 'xyzzy'; {KNOWN}",
    "network,i\0p\n": "unknown column 'i\\x00p'; did you mean 'isp'?",
    "network;isp\n": "unknown column 'network;isp'; did you mean 'network'?",
    "8.8.8.0/24,US\n": f"unknown column '8.8.8.0/24'; {KNOWN}",
    "network,isp,isp\n": "column 'isp' twice; drop one",
    "isp\n": NO_RANGE,
    "first,isp\n": NO_RANGE,
    "network,first,isp\n": NO_RANGE,
    "network,first,last\n": NO_RANGE,
    "\nnetwork,isp\n": NO_RANGE,
    "\ufeff": NO_RANGE,
    f"network,{'x' * 3_000_000}\n": f"unknown column '{'x' * 50}…'; {KNOWN}",
    f'network,"{"x" * 200_000}\n': f"unknown column '{'x' * 50}…'; {KNOWN}",
    '"network,isp\n8.8.8.0/24,x\n': "unknown column 'network,isp\\n'; did you mean 'network'?",
}


def test_every_error_of_a_header(tmp_path: Path) -> None:
    for text, problem in WRONG.items():
        error = fails(tmp_path, {"a.csv": text})
        assert str(error).startswith(f"{tmp_path / 'a.csv'}:1: {problem}")


def test_another_encoding_is_no_header(tmp_path: Path) -> None:
    for encoding in ("utf-16", "utf-16-le", "utf-32"):
        error = fails(tmp_path, {"a.csv": "network,isp\n8.8.8.0/24,x\n".encode(encoding)})
        name = encoding.removesuffix("-le").upper()
        assert str(error).endswith(f"a.csv: this looks like {name}; convert it to UTF-8")


def test_every_field_is_a_column(read: Read) -> None:
    cells = dict.fromkeys(FIELDS, "") | {"isp": "x"}
    text = f"network,{','.join(cells)}\n8.8.8.0/24,{','.join(cells.values())}\n"
    reading = read({"a.csv": text})
    assert reading.values("isp", "8.8.8.8") == ["x"]


def test_files_of_one_glob_may_have_different_columns(read: Read) -> None:
    """A layer that a file lacks is unknown in its rows, before and behind the file that has it."""
    files: dict[str, str | bytes] = {
        "1.csv": "network,city_name\n8.8.1.0/24,one\n2a00:1::/32,uno\n",
        "2.csv": "isp,network\ntwo,8.8.2.0/24\ndos,2a00:2::/32\n",
        "3.csv": "first,last,city_name,isp\n8.8.3.0,8.8.3.255,three,drei\n",
        "4.csv": "network\n8.8.3.128/25\n",
    }
    reading = read(files, recipe('path = "[0-9].csv"'))
    addresses = "8.8.1.1", "8.8.2.1", "8.8.3.1", "8.8.3.129", "2a00:1::1", "2a00:2::1"
    assert reading.values("isp", *addresses) == [None, "two", "drei", None, None, "dos"]
    reading = read(files, recipe('path = "[0-9].csv"\nprovides = ["city_name"]'))
    assert reading.values("isp", *addresses) == [None] * 6


def test_no_fields_at_all(read: Read) -> None:
    reading = read({"a.csv": "network,isp\n8.8.8.0/24,x\n"}, recipe(UNKNOWN))
    assert reading.source.read == 1
    assert reading.values("isp", "8.8.8.8") == [None]


UNKNOWN = 'path = "a.csv"\nprovides = []'
