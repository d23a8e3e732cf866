"""Columns of foreign CSVs mapped in the recipe: names, positions, delimiters, every error."""

from __future__ import annotations

from pathlib import Path

from tests.builder.building import fails
from tests.builder.sources.readings import Read
from tests.builder.sources.recipes import one

HERE = 'columns = { network = "cidr", country_code = "country", asn = "as_number" }'
FOREIGN = (
    "id;cidr;as_number;country;what ever\n"
    '1;8.8.8.0/24;AS64500;ch;"a;b"\n'
    "2;2600:100::/32;64501;DE;\n"
    '3;9.9.9.9;;NO;"two\nlines"\n'
)
SEMICOLON = 'delimiter = ";"'


def test_names_of_the_file(read: Read) -> None:
    reading = read({"a.csv": FOREIGN}, one("csv", "a.csv", HERE, SEMICOLON))
    assert reading.ranges() == {
        "8.8.8.0/24": {"country_code": "CH", "asn": 64500},
        "2600:100::/32": {"country_code": "DE", "asn": 64501},
        "9.9.9.9/32": {"country_code": "NO"},
    }
    assert (reading.source.read, reading.source.rejected.total()) == (3, 0)
    text = one("csv", "a.csv", SEMICOLON, "[source.columns]", 'network = "cidr"', 'isp = "id"')
    reading = read({"a.csv": FOREIGN}, text)
    assert reading.stated("8.8.8.8") == [{"isp": "1"}]


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


def test_columns_that_are_passed_over_and_their_order(read: Read) -> None:
    text = "x,cidr,x,,isp,network\n1,8.8.8.0/24,2,3,no,9.9.9.9\n"
    columns = 'columns = { network = "cidr", organization = "isp" }'
    reading = read({"one.csv": text}, one("csv", "one.csv", columns))
    assert reading.stated("8.8.8.8", "9.9.9.9") == [{"organization": "no"}, {}]
    files: dict[str, str | bytes] = {
        "1.csv": "cidr,org\n8.8.8.0/24,x\n",
        "2.csv": "more,org,cidr\n?,y,9.9.9.0/24\n",
    }
    text = one("csv", "?.csv", 'columns = { network = "cidr", isp = "org" }')
    assert read(files, text).stated("8.8.8.8", "9.9.9.9") == [{"isp": "x"}, {"isp": "y"}]
    options = ("columns = { first = 1, last = 2, isp = 3 }", "header = false", "family = 6")
    first = 0x2600 << 112
    reading = read({"a.csv": f"{first},{first + 9},x\n"}, one("csv", "a.csv", *options))
    assert reading.stated("2600::9", "2600::a") == [{"isp": "x"}, {}]


WRONG = {
    "columns = 1": 'source.columns is not a table of names; write columns = { network = "cidr"',
    "columns = {}": 'source.columns is not a table of names; write columns = { network = "cidr"',
    'columns = ["network"]': "source.columns is not a table of names; write columns = {",
    'columns = { netwrok = "cidr" }': (
        "unknown field 'netwrok' in columns; did you mean 'network'?"
    ),
    'columns = { network = "cidr", cuntry_code = "x" }': (
        "unknown field 'cuntry_code' in columns; did you mean 'country_code'?"
    ),
    'columns = { isp = "id" }': "no range in columns; name one column as network, or two as",
    'columns = { first = "cidr" }': "no range in columns; name one column as network, or two as",
    'columns = { network = "cidr", first = "a", last = "b" }': "no range in columns; name",
    "columns = { network = 1 }": (
        "source.columns.network is not a name; name a column of its header, or write header"
    ),
    'columns = { network = "" }': "source.columns.network is not a name; name a column",
    'columns = { network = "cidr" }\nheader = false': (
        "source.columns.network is not a position; write 1 for the first column; without"
    ),
    "columns = { network = 0 }\nheader = false": "source.columns.network is not a position; ",
    "columns = { network = true }\nheader = false": "source.columns.network is not a position; ",
    "header = false": "source.header is false without columns; write columns = { network = 1",
    "header = 0": "source.header is neither true nor false; write header = false",
    'columns = { network = "cidr", isp = "cidr" }': (
        "column 'cidr' is the range and something else in columns; keep one of them"
    ),
    'columns = { first = "cidr", last = "cidr" }': "column 'cidr' is the range and something",
    'delimiter = ""': "source.delimiter cannot be ''; write one character",
    'delimiter = ";;"': "source.delimiter cannot be ';;'; write one character",
    'delimiter = "\\n"': "source.delimiter cannot be '\\n'; write one character",
    "delimiter = '\"'": "source.delimiter cannot be '\"'; write one character",
    'delimiter = "."': "source.delimiter cannot be '.'; write one character",
    'delimiter = "x"': "source.delimiter cannot be 'x'; write one character",
    'delimiter = "¦"': "source.delimiter cannot be '¦'; write one character",
    "delimiter = 1": "source.delimiter cannot be 1; write one character",
}


def test_every_error_of_a_mapping(tmp_path: Path) -> None:
    for options, problem in WRONG.items():
        error = fails(tmp_path, {"a.csv": FOREIGN}, one("csv", "a.csv", options))
        assert str(error).startswith(f"{tmp_path / 'recipe.toml'}: {problem}")
    for options, problem in LACKING.items():
        error = fails(tmp_path, {"a.csv": FOREIGN}, one("csv", "a.csv", options))
        assert str(error).startswith(f"{tmp_path / 'a.csv'}:1: {problem}")
    text = one("csv", "a.csv", 'columns = { network = "cidr" }')
    error = fails(tmp_path, {"a.csv": "cidr,cidr\n8.8.8.8,9.9.9.9\n"}, text)
    assert str(error) == f"{tmp_path / 'a.csv'}:1: column 'cidr' twice; drop one"


LACKING = {
    'columns = { network = "cdir" }\ndelimiter = ";"': "no column 'cdir'; did you mean 'cidr'?",
    'columns = { network = "xyzzy" }\ndelimiter = ";"': (
        "no column 'xyzzy'; known are id, cidr, as_number, country, what ever"
    ),
    'columns = { network = "cidr" }': "no column 'cidr'; known are id;cidr;",
    "columns = { network = 2, isp = 6 }\nheader = false\ndelimiter = ';'": (
        "no column '6'; correct columns: there are 5"
    ),
}


def test_bad_rows_are_found_at_their_lines(read: Read) -> None:
    """Behind a quoted line break, with and without a header."""
    bad = FOREIGN + "4;9.9.9.1/24;;;\n5;9.9.9.9;\n6;x;;;\n"
    for header, first in ((True, 6), (False, 5)):
        columns = HERE if header else "columns = { network = 2, country_code = 4, asn = 3 }"
        text = one("csv", "a.csv", columns, SEMICOLON, f"header = {str(header).lower()}")
        reading = read({"a.csv": bad if header else bad.split("\n", 1)[1]}, text)
        assert reading.bad_lines() == [
            (first, "host bits set"),
            (first + 1, "wrong number of cells"),
            (first + 2, "not an address"),
        ]
        assert reading.source.read == 6
