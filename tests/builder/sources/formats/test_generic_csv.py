"""The generic CSV: header, cells and columns mapped in the recipe; the text of every error."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builder.building import fails, recipe
from tests.builder.sources.formats.test_generic_typed import as_csv
from tests.builder.sources.readings import Read, fields, one, read_at
from tests.internals.builder import delimited
from tests.internals.contract import BY_SOURCE_COLUMN
from tests.internals.files import text_blocks


def csv_text(column: str, texts: list[str]) -> str:
    return as_csv([{"network": f"8.8.{at}.0/24", column: text} for at, text in enumerate(texts)])


def test_blank_cells_are_unknown(read: Read) -> None:
    reading = read({"a.csv": csv_text("isp", ["", " ", "\t", "\u00a0\u2003", "  x  "])})
    result = reading.values("isp", *(f"8.8.{number}.1" for number in range(5)))
    assert result == [None, None, None, None, "x"]


def test_quotes_and_rows_across_blocks(
    read: Read, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reading = read({"a.csv": 'network,isp\n8.8.8.0/24,5" disk\n8.8.9.0/24,x\n'})
    assert reading.values("isp", "8.8.8.8", "8.8.9.9") == ['5" disk', "x"]
    # It would swallow the rest of the file without a word.
    for text, line in OPEN_QUOTES.items():
        problem = f"{tmp_path / 'a.csv'}:{line}: a quote is never closed; close it"
        assert str(fails(tmp_path, {"a.csv": text})).startswith(problem)
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 64)
    texts = [f"line\n{number}, {'x' * (number % 30)}." for number in range(200)]
    reading = read({"a.csv": csv_text("isp", texts)})
    assert reading.source.read == 200
    assert reading.values("isp", *(f"8.8.{number}.1" for number in range(200))) == texts
    monkeypatch.setattr(text_blocks, "LONGEST_RECORD", 500)
    error = fails(tmp_path, {"a.csv": csv_text("isp", ["a", "x" * 1000, "b"])})
    assert f"{tmp_path / 'a.csv'}:3: a line or record of more than 500 bytes" in str(error)


OPEN_QUOTES = {
    'network,isp\n8.8.8.0/24,x\n8.8.9.0/24,"y\n8.8.10.0/24,z\n': 3,
    'network,isp\n8.8.8.0/24,"a\nb"\n\n8.8.9.0/24,"y\n8.8.10.0/24,z': 5,
    'network,isp\n"8.8.9.0/24,y\n8.8.10.0/24,z\n': 2,
    'network,isp\n8.8.9.0/24,y\n8.8.10.0/24,"': 3,
    'network,isp\r8.8.9.0/24,y\r8.8.10.0/24,"""\r8.8.11.0/24,z': 3,
}


NOT_UTF8 = {
    b"network,isp\n8.8.8.0/24,x\n8.8.9.0/24,\xff\n": 3,
    b'network,isp\n8.8.8.0/24,"a\nb"\n8.8.9.0/24,\xc3(\n': 4,
    b"network,isp\n8.8.8.\xe9/24,x\n": 2,
    b"network,isp\n8.8.8.0/24,cut\xc3": 2,
    b"network,isp\n" + b"8.8.8.0/24,x\n" * 200_000 + b"8.8.9.0/24,Malm\xf6\n": 200_002,
}


GOOD: list[bytes] = [
    b"network,isp\n8.8.8.0/24,x\n",
    b'"network","isp"\n8.8.8.0/24,x\n',
    b"last,isp,first\n8.8.8.255,x,8.8.8.0\n",
    b"\xef\xbb\xbfnetwork,isp\r\n\r\n8.8.8.0/24,x",
    b'network,isp\n"8.8.8.0/24","x"\n\n\n',
    b" network , isp\n 8.8.8.0/24 , x \n",
    b"\xef\xbb\xbf network ,\tisp\xc2\xa0\r\n8.8.8.0/24\t,\xe3\x80\x80x",
    b"first , last , isp\n 8.8.8.0 , 8.8.8.255 ,x\n",
    b"first ,last,isp\n 134744064, 134744319 ,x\n",
]


def test_what_is_a_header(read: Read) -> None:
    for content in GOOD:
        reading = read({"a.csv": content})
        assert (reading.source.read, reading.source.used) == (1, 1), content
        assert reading.values("isp", "8.8.8.8", "8.8.9.1") == ["x", None], content
    for header in ("network,isp", "network,isp\n", "network\n", "first,last"):
        reading = read({"a.csv": header})
        assert (reading.source.read, reading.ranges()) == (0, {}), header
    cells = dict.fromkeys(BY_SOURCE_COLUMN, "") | {"isp": "x"}
    text = f"network,{','.join(cells)}\n8.8.8.0/24,{','.join(cells.values())}\n"
    reading = read({"a.csv": text})
    assert reading.values("isp", "8.8.8.8") == ["x"]


def test_a_nul_inside_a_name_loses_no_row(read: Read) -> None:
    columns = one("csv", "a.csv", "[source.columns]", 'network = "network"', 'isp = "i"')
    reading = read({"a.csv": "network,i,o\x00\n8.8.8.0/24,x,\n8.8.9.0/24,y,\n"}, columns)
    assert (reading.source.read, reading.source.used) == (2, 2)
    assert reading.values("isp", "8.8.8.8", "8.8.9.1") == ["x", "y"]


MAP = "in a recipe, map what is to be read, columns ="
OWN = f"{MAP} {{ … }}, or declare own ones in [columns]"
NO_RANGE = (
    "no range in the header; name the range as network, or as first and last (or map columns of"
)
WRONG = {
    "network,cuntry_code\n": (f"unknown column 'cuntry_code'; did you mean 'country_code'? {OWN}"),
    "netwrok\n": "unknown column 'netwrok'; did you mean 'network'? in a",
    "network,Country_Code\n": (
        f"unknown column 'Country_Code'; {MAP}"
        ' { network = "network", country_code = "Country_Code" }'
    ),
    "start_ip,end_ip,zip,x\n": (
        f"unknown columns 'start_ip', 'end_ip', 'zip', 'x'; {MAP}"
        ' { first = "start_ip", last = "end_ip", postal_code = "zip" }'
    ),
    "network,site_id,owner\n": f"unknown columns 'site_id', 'owner'; {OWN}",
    "network,site_id,cuntry_code,isps\n": (
        f"unknown columns 'site_id', 'cuntry_code', 'isps'; did you mean 'country_code'? {OWN}"
    ),
    "network,x1,x2,x3,x4,x5,x6,x7\n": (
        f"unknown columns 'x1', 'x2', 'x3', 'x4', 'x5', and 2 more; {OWN}"
    ),
    "network,,isp\n": "unknown column '(column 2)'; in a recipe, map what is to be read, columns =",
    "network,i\0p\n": "unknown column 'i\\x00p'; did you mean 'isp'? in",
    "network;isp\n": "the delimiter is ';'; add delimiter = \";\" to the source in a recipe",
    "network\tisp\n": "the delimiter is '\\t'; add delimiter = \"\\t\" to the source in a recipe",
    "8.8.8.0/24,US\n": f"unknown columns '8.8.8.0/24', 'US'; {OWN}",
    "network,isp,isp\n": "column 'isp' twice; drop one",
    "isp\n": NO_RANGE,
    "first,isp\n": NO_RANGE,
    "network,first,last\n": NO_RANGE,
    "\nnetwork,isp\n": NO_RANGE,
    "\ufeff": NO_RANGE,
    f"network,{'x' * 3_000_000}\n": f"unknown column '{'x' * 50}…'; {OWN}",
    f'network,"{"x" * 200_000}\n': f"unknown column '{'x' * 50}…'; {OWN}",
    '"network,isp\n8.8.8.0/24,x\n': "unknown column 'network,isp'; did you mean 'network'? in",
}


def test_every_error_of_a_header(tmp_path: Path) -> None:
    for text, problem in WRONG.items():
        error = fails(tmp_path, {"a.csv": text})
        assert str(error).startswith(f"{tmp_path / 'a.csv'}:1: {problem}")
    for encoding in ("utf-16", "utf-16-le", "utf-32"):
        error = fails(tmp_path, {"a.csv": "network,isp\n8.8.8.0/24,x\n".encode(encoding)})
        name = encoding.removesuffix("-le").upper()
        assert str(error).endswith(f"a.csv: this looks like {name}; convert it to UTF-8")
    for content, line in NOT_UTF8.items():
        problem = f"{tmp_path / 'a.csv'}:{line}: not UTF-8; state its encoding in a recipe, such"
        problem += ' as encoding = "cp1252"'
        assert str(fails(tmp_path, {"a.csv": content})) == problem
    # Also of a column that nothing reads.
    unread = b"network,country,note\n8.8.8.0/24,CH,Z\xfcrich\n"
    mapped = 'path = "a.csv"\ncolumns = { country_code = "country" }'
    error = fails(tmp_path, {"a.csv": unread}, recipe(mapped))
    assert (error.problem, error.line) == ("not UTF-8", 2)


def test_another_encoding(tmp_path: Path) -> None:
    """Excel writes a CSV in the code page of its Windows; the name of a column is in it too."""
    content = "Netz;Länge;Breite;Ort\n8.8.8.0/24;8.5;47.3;Zürich\n".encode("cp1252")
    columns = '{ network = "Netz", longitude = "Länge", latitude = "Breite", city_name = "Ort" }'
    options = ('delimiter = ";"', f"columns = {columns}")
    for format_ in ("auto", "csv"):
        text = one(format_, "a.csv", *options, 'encoding = "cp1252"')
        source = read_at(tmp_path, {"a.csv": content}, text)
        assert source.at("8.8.8.8") == fields("city_name=Zürich; latitude=47.3; longitude=8.5")
    text = one("csv", "a.csv", *options, 'encoding = "ascii"')
    assert "not ascii after line 1" in str(fails(tmp_path, {"a.csv": content}, text))


FOREIGN = (
    "id;cidr;as_number;country;what ever\n"
    '1;8.8.8.0/24;AS64500;ch;"a;b"\n'
    "2;2600:100::/32;64501;DE;\n"
    '3;9.9.9.9;;NO;"two\nlines"\n'
)
SEMICOLON = 'delimiter = ";"'


def test_positions_and_delimiters(read: Read) -> None:
    rows = [["134744072", "x", "134744079", "Acme"], ["134744080", "y", "134744080", "Other"]]
    for delimiter in ("\\t", "|", " ", ","):
        letter = "\t" if delimiter == "\\t" else delimiter
        text = "".join(letter.join(row) + "\n" for row in rows)
        columns = "columns = { first = 1, last = 3, isp = 4, organization = 4 }"
        options = (columns, "header = false", f'delimiter = "{delimiter}"')
        reading = read({"a.txt": text}, one("csv", "a.txt", *options))
        assert reading.source.read == 2, delimiter
        assert reading.stated("8.8.8.15", "8.8.8.16") == [
            {"isp": "Acme", "organization": "Acme"},
            {"isp": "Other", "organization": "Other"},
        ], delimiter
    text = one("csv", "a.csv", SEMICOLON)
    reading = read({"a.csv": "network;isp\n8.8.8.0/24;a,b\n"}, text)
    assert reading.stated("8.8.8.8") == [{"isp": "a,b"}]


WRONG_MAPPINGS = {
    "columns = 1": 'source.columns is not a table of names; write columns = { network = "cidr"',
    "columns = {}": 'source.columns is not a table of names; write columns = { network = "cidr"',
    'columns = { network = "cidr", cuntry_code = "x" }': (
        "source.columns: no field 'cuntry_code'; did you mean 'country_code'?"
    ),
    'columns = { network = "cidr", location = "x" }': (
        "source.columns: location is a group; name one of its members: continent, country"
    ),
    'columns = { network = "cidr", country_name = "x" }': (
        "source.columns: country_name follows from other fields, no source states it; leave it out"
    ),
    'columns = { network = "cidr", city = "x", city_name = "y" }': (
        "source.columns: city_name is there twice; drop one"
    ),
    'columns = { network = "cidr", first = "a", last = "b" }': "two ranges in columns; name",
    "columns = { network = 1 }": (
        'source.columns.network is not a name; name a column, such as city = "town", or'
    ),
    'columns = { network = "" }': "source.columns.network is not a name; name a column",
    'columns = { network = "cidr" }\nheader = false': (
        "source.columns.network is not a position; write 1 for the first column; without"
    ),
    "columns = { network = 0 }\nheader = false": "source.columns.network is not a position; ",
    "header = false": "source.header is false without columns; write columns = { network = 1",
    "header = 0": "source.header is neither true nor false; write header = false",
    'delimiter = ""': "source.delimiter cannot be ''; write one character",
    'delimiter = "\\n"': "source.delimiter cannot be '\\n'; write one character",
    "delimiter = '\"'": "source.delimiter cannot be '\"'; write one character",
    'delimiter = "."': "source.delimiter cannot be '.'; write one character",
    'delimiter = "¦"': "source.delimiter cannot be '¦'; write one character",
    "cells = 1": "source.cells is not a table; write [source.cells]",
    "cells = { emtpy = [] }": "unknown key source.cells.emtpy; did you mean 'empty'?",
    'cells = { empty = "-" }': "source.cells.empty is not a list of words; write empty = [",
    'cells = { empty = [""] }': "source.cells.empty is not a list of words; write empty = [",
    'cells = { decimal = ";" }': "source.cells.decimal is ';'; write decimal = \",\"",
    "cells = { netmasks = 1 }": "source.cells.netmasks is neither true nor false; write netmasks",
    "delimiter = 1": "source.delimiter cannot be 1; write one character",
}


def test_every_error_of_a_mapping(tmp_path: Path) -> None:
    for options, problem in WRONG_MAPPINGS.items():
        error = fails(tmp_path, {"a.csv": FOREIGN}, one("csv", "a.csv", options))
        assert str(error).startswith(f"{tmp_path / 'recipe.toml'}: {problem}")
    for options, problem in LACKING.items():
        error = fails(tmp_path, {"a.csv": FOREIGN}, one("csv", "a.csv", options))
        assert problem in str(error)
    text = one("csv", "a.csv", 'columns = { network = "cidr" }')
    error = fails(tmp_path, {"a.csv": "cidr,cidr\n8.8.8.8,9.9.9.9\n"}, text)
    assert str(error) == f"{tmp_path / 'a.csv'}:1: column 'cidr' twice; drop one"


LACKING = {
    'columns = { network = "cdir" }\ndelimiter = ";"': "no column 'cdir'; did you mean 'cidr'?",
    'columns = { network = "xyzzy" }\ndelimiter = ";"': (
        "no column 'xyzzy'; known are id, cidr, as_number, country, what ever"
    ),
    'columns = { network = "cidr" }': "the delimiter is ';'; add delimiter = \";\" to the source",
    "columns = { network = 2, isp = 6 }\nheader = false\ndelimiter = ';'": (
        "no column '6'; correct columns: there are 5"
    ),
}
