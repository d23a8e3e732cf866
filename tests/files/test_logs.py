"""Logs of web servers: fields, malformed lines by number, detection, compressed, both kernels."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from tests.cli.program import run
from tests.files.tables import packed

TIME = "[10/Oct/2000:13:55:36 -0700]"
REQUEST = r'"GET /\"a\x22 HTTP/1.1"'
COMMON = f"8.8.8.8 - joe b {TIME} {REQUEST} 200 2326"
COMBINED = f'{COMMON} "https://a.example/?q=1,2" "Mozilla/5.0 (X11; \\"x\\")"'
#: The row of that line.
FIRST = {
    "ip": "8.8.8.8",
    "ident": "",
    "user": "joe b",
    "time": "2000-10-10 20:55:36Z",
    "request": r"GET /\"a\x22 HTTP/1.1",
    "status": "200",
    "size": "2326",
    "referer": "https://a.example/?q=1,2",
    "user_agent": 'Mozilla/5.0 (X11; \\"x\\")',
    "rest": "",
    "malformed": "",
    "location_country_code": "US",
}
WRONG = [
    f"8.8.8.8 - - [10/Okt/2000:13:55:36 -0700] {REQUEST} 200 2326",
    f"8.8.8.8 - - {TIME} {REQUEST} 2000 2326",
    "x",
    COMBINED[: len(COMBINED) // 2],
]


def enriched(path: Path, *options: str) -> tuple[list[dict[str, str]], str]:
    args = ("--output", "-", "--output-format", "csv", "--fields", "location.country_code")
    done = run("enrich", str(path), *args, *options)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout))), done.stderr


def test_fields_and_malformed_lines(tmp_path: Path) -> None:
    lines = [COMBINED, "", WRONG[0], f'{COMBINED} "10.0.0.1"', WRONG[1], *WRONG[2:]]
    for suffix in ("", ".gz", ".zst"):
        path = tmp_path / f"access.log{suffix}"
        path.write_bytes(packed(("\r\n".join(lines) + "\n").encode(), suffix))
        rows, told = enriched(path)
        assert rows[0] == FIRST
        assert rows[2] == {**rows[0], "rest": '"10.0.0.1"'}
        assert [row["malformed"] for row in rows] == ["", WRONG[0], "", *WRONG[1:]]
        assert {row["ip"] for row in rows if row["malformed"]} == {""}
        name, closing = told.splitlines()
        assert name == f"{path}: 4 lines are malformed: 3, 5, 6, 7"
        assert closing.startswith("6 rows, 2 located, 0 unknown, 4 invalid")


def test_the_format_is_detected_or_named(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text(f"{WRONG[2]}\n{COMMON}\n", encoding="utf-8")
    rows, _ = enriched(path)
    assert (rows[1]["status"], "referer" in rows[1]) == ("200", False)
    rows, told = enriched(path, "--input-format", "combined")
    assert rows[1]["malformed"] == COMMON
    assert "2 lines are malformed: 1, 2" in told
    path.write_text("8.8.8.8:53 query a.example\n\n1.1.1.1\n", encoding="utf-8")
    rows, told = enriched(path, "--clean")
    assert [row["line"] for row in rows] == ["8.8.8.8:53 query a.example", "1.1.1.1"]
    assert [row["location_country_code"] for row in rows] == ["US", "AU"]
    assert "malformed" not in told
    rows, _ = enriched(path, "--input-format", "lines")
    assert rows[0]["location_country_code"] == ""
    path.write_bytes(b"")
    assert enriched(path)[0] == []


def test_lines_of_a_log(tmp_path: Path) -> None:
    """The local time of each; one is named by its number, escaped, and counted if malformed."""
    path = tmp_path / "access.log"
    path.write_bytes(COMBINED.replace("-0700", "+0000").encode() + b"\n")
    rows, _ = enriched(path, "--local-time-column", "time", "--fields", "time.current_time")
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
