"""Plain lists of prefixes: what counts as a row, and what the recipe may say of all of them."""

from __future__ import annotations

from pathlib import Path

from tests.builder.building import fails
from tests.builder.plain_rows import check_rows
from tests.builder.sources.readings import Read

LIST = "# hosters\n8.8.8.0/24\n\n9.9.9.9   # one of them\n2600:100::/32 ; other comment\n"
HOSTING = 'fields = { user_type = "hosting" }'


def recipe(fields: str = HOSTING, path: str = "list.txt") -> str:
    return f"""[dataset]\nname = "test"\n[[source]]\nformat = "cidr-list"
path = "{path}"\n{fields}\n"""


def test_every_row_has_the_fields(read: Read) -> None:
    hosting = {"user_type": "hosting"}
    blank = "   \n\t\n" + LIST + "  # end"
    for text in (LIST, blank, "\ufeff8.8.8.0/24\n9.9.9.9\n2600:100::/32"):
        reading = read({"list.txt": text}, recipe())
        found = reading.stated("8.8.8.255", "9.9.9.9", "2600:100::1", "8.8.9.0", "9.9.9.8")
        assert found == [hosting, hosting, hosting, {}, {}], text
        assert (reading.source.read, reading.source.rejected.total()) == (3, 0), text


def test_a_constant_of_every_kind(read: Read) -> None:
    located = 'country_code = "no", latitude = 59.5, longitude = 10'
    fields = f'fields = {{ asn = 64500, isp = "Acme", {located} }}'
    reading = read({"list.txt": "8.8.8.8\n"}, recipe(fields))
    place = {"country_code": "NO", "latitude": 59.5, "longitude": 10}
    assert reading.at("8.8.8.8") == {"asn": 64500, "isp": "Acme", **place}


BAD = {
    "8.8.8.0/33": "not a prefix length",
    "8.8.8.1/24": "host bits set",
    "8.8.8": "not an address",
    "8.8.8.0/24,US": "not a prefix length",
    "8.8.8.0/24 US": "not an address",
    "8.8.\x000/24": "not an address",
    "8.8.8.0/2\x1f4": "wrong number of cells",
    '"8.8.8.0/24': "not an address",
    "8" * 1_000_000: "not an address",
    str(1 << 128): "not an address",
}


def test_bad_lines_are_rejected_with_their_numbers(read: Read) -> None:
    text = "# first\n\n" + "".join(f"{line}\n" for line in BAD) + "9.9.9.9\n"
    reading = read({"list.txt": text}, recipe())
    assert reading.bad_lines() == list(enumerate(BAD.values(), 3))
    assert reading.stated("9.9.9.9") == [{"user_type": "hosting"}]


WRONG = {
    "": "source.fields is missing",
    "fields = {}": "source.fields is missing",
    'fields = "hosting"': "source.fields is missing",
    'fields = { user_typ = "hosting" }': "did you mean 'user_type'?",
    'fields = { user_type = "hostin" }': "user_type cannot be 'hostin'",
    'fields = { user_type = "" }': "user_type cannot be ''",
    "fields = { user_type = [1] }": "user_type cannot be [1]",
    "fields = { latitude = 91 }": "latitude cannot be 91",
    'fields = { time_zone = "Mars/Base" }': "time_zone cannot be",
    "fields = { asn = -1 }": "asn cannot be -1",
    "fields = { isp = true }": "isp cannot be True",
}


def test_fields_are_checked(tmp_path: Path) -> None:
    for fields, words in WRONG.items():
        error = fails(tmp_path, {"list.txt": LIST}, recipe(fields))
        assert words in str(error)
        assert error.path == str(tmp_path / "recipe.toml")


def test_a_list_of_comments_is_empty(read: Read) -> None:
    reading = read({"list.txt": "# none today\n"}, recipe())
    assert (reading.source.read, reading.stated("8.8.8.8")) == (0, [{}])


def test_another_file_is_one_error(tmp_path: Path) -> None:
    error = fails(tmp_path, {"list.txt": "network,isp\n8.8.8.0/24,x\n"}, recipe(), max_rejects=0)
    assert (error.line, error.path) == (1, str(tmp_path / "list.txt"))


def test_files_of_a_glob_follow_each_other(read: Read) -> None:
    reading = read({"a.txt": "8.8.8.8", "b.txt": "9.9.9.9"}, recipe(path="*.txt"))
    assert reading.source.read == 2
    assert reading.stated("8.8.8.8", "9.9.9.9") == [{"user_type": "hosting"}] * 2


def test_rows_are_those_of_a_plain_reader(tmp_path: Path) -> None:
    text = LIST + "10.0.0.0/8\n8.8.8.0/25\nbad\n"
    first_words = [line.split()[0] for line in text.splitlines() if line]
    rows = [{"network": word, "user_type": "hosting"} for word in first_words if word[0].isdigit()]
    assert len(rows) == 5
    check_rows(tmp_path, {"list.txt": text}, recipe(), rows)
