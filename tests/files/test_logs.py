"""Logs of web servers by the shape of whole lines: fields, malformed lines, formats, refusals."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.program import refusal, run
from tests.files.tables import packed
from tests.internals.files import SHAPES, ReadOptions, open_table, table_file

TIME = "[10/Oct/2000:13:55:36 -0700]"
REQUEST = r'"GET /\"a\x22 HTTP/1.1"'
COMMON = f"8.8.8.8 - joe {TIME} {REQUEST} 200 2326"
COMBINED = f'{COMMON} "https://a.example/?q=1,2" "Mozilla/5.0 (X11; \\"x\\")"'
WRONG = [
    f"8.8.8.8 - - [10/Okt/2000:13:55:36 -0700] {REQUEST} 200 2326",
    f"8.8.8.8 - - {TIME} {REQUEST} 2000 2326",
    "x",
    COMBINED[: len(COMBINED) // 2],
    COMBINED.replace("joe", "joe b"),
    COMBINED.replace("8.8.8.8", "8.8.8.8 1.1.1.1 10.0.0.1"),
]
#: Of IIS, and of CloudFront with tabs.
IIS = """#Software: Microsoft Internet Information Services 10.0
#Version: 1.0
#Date: 2026-11-20 09:30:00
#Fields: date time s-ip cs-method s-port c-ip cs(User-Agent) sc-status X-Forwarded-For
2026-11-20 09:30:00 10.0.0.4 GET 443 8.8.8.8 Mozilla/5.0+(X11) 200 1.1.1.1:51000,+10.0.0.1:2
2026-11-20 09:30:01 10.0.0.4 GET 443 10.0.0.9 - 404
2026-11-20 09:30:01 10.0.0.4 GET 443 1.1.1.1 curl/8.5.0 304 -
"""
CLOUDFRONT = """#Version: 1.0
#Fields: date time sc-bytes c-ip cs-method cs(Host) sc-status cs(User-Agent) x-forwarded-for
2026-11-20 09:30:00 104 8.8.8.8 GET d1.example 200 Mozilla/5.0%2520(X11) 1.1.1.1,%2010.0.0.1
2026-11-20 09:30:01 502 2606:4700::1 GET d1.example 000 - -
2026-11-20 09:30:01 502 8.8.8.8 GET d1.example none - -
2026-11-20 09:30:60 502 8.8.8.8 GET d1.example 200 -
""".replace(" ", "\t")
#: Of servers whose lines are no rows.
OTHERS = {
    "sshd": "Nov 20 09:30:00 web sshd[811]: Failed password for root from 8.8.8.8 port 22 ssh2",
    "journal": "2026-11-20T09:30:00+0000 web sshd[811]: Connection closed by 8.8.8.8 port 22",
    "squid": "1763631000.123     45 8.8.8.8 TCP_MISS/200 19 GET http://a/ - DIRECT/1.1.1.1 -",
    "vpc": "2 123456789010 eni-1235b8ca 8.8.8.8 172.31.16.21 20641 22 6 20 1418530010 ACCEPT OK",
    "netfilter": "1763631000 kernel: IN=eth0 OUT= SRC=8.8.8.8 DST=10.0.0.1 LEN=60 PROTO=TCP",
}


def enriched(path: Path, *options: str) -> tuple[list[dict[str, str]], str]:
    args = ("--output", "-", "--output-format", "csv", "--fields", "location.country_code")
    done = run("enrich", str(path), *args, *options)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout))), done.stderr


def read(path: Path, text: str, *options: str) -> tuple[list[dict[str, str]], str]:
    path.write_text(text, encoding="utf-8")
    return enriched(path, *options)


def countries(rows: list[dict[str, str]]) -> list[str]:
    return [row["location_country_code"] for row in rows]


def test_fields_and_malformed_lines(tmp_path: Path) -> None:
    lines = [COMBINED, "", WRONG[0], f'{COMBINED} "10.0.0.1"', COMBINED, COMBINED, *WRONG[1:]]
    for suffix in ("", ".gz", ".zst"):
        path = tmp_path / f"access.log{suffix}"
        path.write_bytes(packed(("\r\n".join(lines) + "\n").encode(), suffix))
        rows, told = enriched(path)
        assert rows[2] == {**rows[0], "rest": '"10.0.0.1"'}
        assert [row["malformed"] for row in rows] == ["", WRONG[0], "", "", "", *WRONG[1:]]
        assert {row["ip"] for row in rows if row["malformed"]} == {""}
        name, closing = told.splitlines()
        assert name == f"{path}: 6 lines are malformed: 3, 7, 8, 9, 10 and 1 more"
        assert closing.startswith("10 rows, 4 located, 0 unknown, 6 invalid")


#: Values of each part of a line, the usual one first.
_PARTS = (
    ("8.8.8.8", "10.0.0.1, 8.8.8.8", "1.1.1.1,10.0.0.1", "-", "8.8.8.8,", ""),
    (" - ", " id ", " [x ", ' " ', " ", "  "),
    ("-", "joe", '"joe"', '""', "jo]", "a b"),
    (f" {TIME} ", " [1/Oct/2000:13:55:36 +0000] ", " [10/Okt/2000:13:55:36 -0700] ", " [] ", " x "),
    ('"GET / HTTP/1.1"', r'"GET \" x"', '"-"', '""', '"a b, c d"', '"a "q" b"', "GET"),
    (" 200 ", " 404 ", " - ", " 2000 ", " 20x ", "  "),
    ("0", "12", "-", "007", "9" * 18, "9" * 19, "+5", "0x1", ""),
    (' "-" ', ' "https://a/?q=1,2" ', ' "" ', r' "a\\" ', " - ", " "),
    ('"-"', r'"x/5 (\"x\")"', '"a b"', '"é"', '""', "x"),
    ("", ' "10.0.0.1"', "x", "  a  b", ' "', ","),
)
_LINES = st.tuples(*(st.sampled_from((*parts[:1] * 9, *parts)) for parts in _PARTS)).map("".join)


@pytest.mark.parametrize("shape", SHAPES)
@given(lines=st.lists(_LINES | st.sampled_from(("", "x", " \t", "\v8.8.8.8", "\\", '"'))))
def test_fields_are_the_groups_of_the_pattern(shape: str, lines: list[str]) -> None:
    """Of usual lines, which are split at their quotes, too."""
    host = "a.example:80 " if "vhost" in shape else ""
    text = "".join(f"{host}{line}\r\n" for line in lines)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.log"
        path.write_bytes(text.encode())
        with open_table(
            table_file(str(path), shape, ""), ReadOptions("a", {"ip": ""}, "typed")
        ) as of:
            rows = [row for batch in of.batches() for row in batch.to_pylist()]
    stripped = [line.strip(" \t\v\r") for line in text.split("\n")]
    assert rows == [_expected(shape, line) for line in stripped if line]


def _expected(shape: str, line: str) -> dict[str, Any]:
    match = re.search(SHAPES[shape], line)
    groups: dict[str, Any] = match.groupdict() if match else dict.fromkeys(_names(shape))
    try:
        groups["time"] = datetime.strptime(groups["time"], "%d/%b/%Y:%H:%M:%S %z").astimezone(UTC)
    except (TypeError, ValueError):
        return {**dict.fromkeys(groups), "malformed": line}
    absent = {name for name, value in groups.items() if value == "-" and name != "ip"}
    groups |= dict.fromkeys(absent) | {"rest": groups["rest"] or None, "malformed": None}
    numbers = {name: int(groups[name]) for name in ("status", "size") if groups[name]}
    return groups | numbers


def _names(shape: str) -> list[str]:
    return list(re.compile(SHAPES[shape]).groupindex)


def test_shapes(tmp_path: Path) -> None:
    """The first token of a line is the host in some; it may be an address, as of the server."""
    path = tmp_path / "a.log"
    rows, _ = read(path, f"{WRONG[2]}\n{COMMON}\n{COMMON} 0.003\n")
    assert [rows[1]["status"], "referer" in rows[1], rows[2]["rest"]] == ["200", False, "0.003"]
    for host in ("shop.example", "shop.example:443", "1.1.1.1", "[2606:4700::1]:443"):
        for line in (COMMON, COMBINED):
            rows, told = read(path, f"{host} {line}\n" * 2)
            assert (rows[1]["host"], rows[1]["ip"], rows[1]["user"]) == (host, "8.8.8.8", "joe")
            assert countries(rows) == ["US", "US"], told
    rows, told = read(path, f"{COMMON}\n", "--input-format", "combined")
    assert rows[0]["malformed"] == COMMON
    assert "1 line is malformed: 1" in told
    path.write_bytes(b"")
    assert enriched(path)[0] == []


def test_lines_that_begin_with_an_address(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    rows, told = read(path, "8.8.8.8:53 query a.example\n\n1.1.1.1\n", "--clean")
    assert [row["line"] for row in rows] == ["8.8.8.8:53 query a.example", "1.1.1.1"]
    assert countries(rows) == ["US", "AU"]
    assert "malformed" not in told
    assert countries(enriched(path, "--input-format", "lines")[0]) == ["", "AU"]


def test_w3c_extended(tmp_path: Path) -> None:
    path = tmp_path / "u_ex261120.log"
    rows, told = read(path, IIS)
    assert countries(rows) == ["US", "", "AU"]
    assert rows[0]["time"] == "2026-11-20 09:30:00Z"
    assert (rows[0]["status"], rows[0]["cs(User-Agent)"]) == ("200", "Mozilla/5.0+(X11)")
    assert rows[1]["malformed"] == "2026-11-20 09:30:01 10.0.0.4 GET 443 10.0.0.9 - 404"
    assert "1 line is malformed: 6" in told
    rows, _ = read(path, IIS, "--ip-column", "X-Forwarded-For", "--clean")
    assert countries(rows) == ["AU", "", ""]
    rows, _ = read(path, CLOUDFRONT)
    assert (countries(rows), rows[1]["status"]) == (["US", "US", "", ""], "0")
    rows, _ = read(path, CLOUDFRONT, "--ip-column", "x-forwarded-for", "--clean")
    assert countries(rows) == ["AU", "", "", ""]
    rows, _ = read(path, "#Fields: time c-ip size\n09:30:00 8.8.8.8 5\n")
    assert (countries(rows), rows[0]["time of day"]) == (["US"], "09:30:00")
    fields = "#Fields: date time c-ip\n2026-11-20 09:30:00 8.8.8.8\n"
    rows, _ = read(path, f"{fields}2026-11-20 09:30:00.5 8.8.8.8\n- - 8.8.8.8\n")
    assert [row["malformed"] for row in rows] == ["", "", ""]
    assert [row["time"] for row in rows[1:]] == ["2026-11-20 09:30:00Z", ""]
    rows, _ = read(path, IIS + IIS)  # the server was started again
    assert len(rows) == 6
    path.write_text(IIS + CLOUDFRONT, encoding="utf-8")
    told = refusal("summarize", str(path))
    assert f"{path}, row 9: the fields change; split the file before it" in told


@pytest.mark.parametrize("server", OTHERS)
def test_other_logs_are_refused(server: str, tmp_path: Path) -> None:
    path = tmp_path / f"{server}.log"
    path.write_text(f"{OTHERS[server]}\n" * 3, encoding="utf-8")
    told = refusal("summarize", str(path))
    assert "no line begins with an address or is of a known log format; annotate and grep" in told


def test_json_lines_are_refused_with_the_options_that_read_them(tmp_path: Path) -> None:
    path = tmp_path / "caddy.log"
    path.write_text('{"request":{"remote_ip":"8.8.8.8"},"status":200}\n', encoding="utf-8")
    told = refusal("summarize", str(path))
    assert "pass --input-format jsonl and --ip-column, such as request.remote_ip" in told
    options = ("--input-format", "jsonl", "--ip-column", "request.remote_ip")
    assert countries(enriched(path, *options)[0]) == ["US"]


def test_lines_of_a_log(tmp_path: Path) -> None:
    """The local time of each; one is named by its number, escaped, and counted if malformed."""
    path = tmp_path / "access.log"
    path.write_bytes(COMBINED.replace("-0700", "+0000").encode() + b"\n")
    rows, _ = enriched(path, "--local-time-at", "time", "--fields", "time.current_time")
    assert rows[0]["time_current_time"] == "2000-10-10T06:55:36-07:00"
    path.write_text(f"{COMBINED}\n\n\n{COMBINED.replace('8.8.8.8', '10.0.0.1')}\n", "utf-8")
    args = ("enrich", str(path), "--output", str(tmp_path / "o.csv"), "--on-invalid", "raise")
    assert f"{path}, row 4: Cannot geolocate private IP" in run(*args).stderr
    assert not (tmp_path / "o.csv").exists()
    path.write_bytes(COMBINED.encode().replace(b"GET", b"\xff\xc3\xa9") + b"\n\xfe\n")
    rows, _ = enriched(path)
    assert rows[0]["request"].startswith("\\xffé")
    assert rows[1]["malformed"] == "\\xfe"
    done = run("summarize", str(path), "--json")
    assert '"invalid": 1' in done.stdout
    assert done.stderr == f"{path}: 1 line is malformed: 2\n"
