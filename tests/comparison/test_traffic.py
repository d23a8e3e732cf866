"""Traffic files: every format counts alike, and no error quotes an address."""

from __future__ import annotations

from dataclasses import asdict
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from geolookup.errors import TableFileError
from tests.files.tables import KINDS, packed, written
from tests.internals.comparison import (
    Requests,
    Traffic,
    diff,
    lay_over,
    measure,
    open_dataset,
)

ADDRESSES = ["8.8.8.129", "8.8.8.1", "2a00::1", "10.0.0.1", "8.8.8.129", "nonsense", None]
COUNTS = [3, 1, 4, 1, 5, 9, 2]


TABLE = pa.table({"status": [200] * 7, "client": ADDRESSES, "hits": COUNTS})
ENCODED = TABLE.set_column(1, "client", TABLE["client"].dictionary_encode())
#: The same addresses as numbers, invalid ones as bytes of another length.
RAW = TABLE.set_column(
    1,
    "client",
    pa.array([*(ip_address(item).packed for item in ADDRESSES[:5] if item), b"x", None]),
)
FILES = {
    **{f"t.{kind}": (TABLE, kind) for kind in KINDS},
    "t.csv.gz": (TABLE, "csv"),
    "raw.parquet": (RAW, "parquet"),
}


def _listed(path: Path) -> Path:
    """Write the requests as a list, one address a line; a line that is none where it is null."""
    lines = [a or "-" for a, n in zip(ADDRESSES, COUNTS, strict=True) for _ in range(n)]
    path.write_text("\r\n".join(lines), encoding="utf-8")
    return path


def _counted(pair: tuple[Path, Path], traffic: Traffic) -> dict[str, Any]:
    comparison = measure(lay_over(open_dataset(pair[0]), open_dataset(pair[1]), traffic))
    return {"requests": comparison.requests, "parts": asdict(comparison)["parts"]}


def test_every_format_counts_alike(pair: tuple[Path, Path], tmp_path: Path) -> None:
    expected = _counted(pair, Traffic(_listed(tmp_path / "list.txt")))
    for name, (table, kind) in FILES.items():
        (tmp_path / name).write_bytes(packed(written(table, kind), Path(name).suffix))
        assert _counted(pair, Traffic(tmp_path / name, "client", "hits")) == expected, name
    named = diff(*pair, traffic=tmp_path / "raw.parquet", ip_column="client", traffic_count="hits")
    assert named.requests == expected["requests"] == Requests(total=25, private=1, invalid=11)
    assert expected["parts"]["all"]["moved"]["country"] == {"count": 8, "of": 13, "share": 8 / 13}


_ERRORS: tuple[tuple[str, str | None, str | None, str], ...] = (
    ("t.csv", "8.8.8.8\n8.8.4.4\n", None, "pass --no-header"),
    ("t.csv", "address,n\n8.8.8.8,1\n", None, "name another by --ip-column; known are address, n"),
    ("t.csv", "ip,n\n8.8.8.8,1\n", "hits", "name another by --traffic-count; known are ip, n"),
    ("t.csv", "ip,n\n8.8.8.8,8.8.4.4\n", "n", "column 'n' holds a value that is not a count"),
    ("t.csv", "ip,n\n8.8.8.8,-1\n", "n", "not a count"),
    ("t.csv", "ip,n\n8.8.8.8,1.5\n", "n", "not a count"),
    ("t.csv", "ip,n\n8.8.8.8,\n", "n", "not a count"),
    ("t.csv", "ip,n\n8.8.8.8,1\n8.8.8.8,8.8.4.4,3\n", "n", "3 cells where the header"),
    ("t.txt", "8.8.8.8\n", "n", "no column 'n'"),
    ("t.dat", "8.8.8.8\n", None, "name the format by --input-format"),
    ("t.parquet", "8.8.8.8\n", None, "damaged or not of the format parquet"),
    ("missing/t.csv", None, None, "directory); check its name and permissions"),
    ("missing/t.txt", None, None, "directory); check its name and permissions"),
)


def test_errors_quote_no_address(pair: tuple[Path, Path], tmp_path: Path) -> None:
    for name, content, count, told in _ERRORS:
        path = tmp_path / name
        if content is not None:
            path.write_text(content, encoding="utf-8")
        with pytest.raises(TableFileError) as raised:
            diff(*pair, traffic=path, traffic_count=count)
        assert str(raised.value).startswith((f"{path}: ", f"{path}, row ")), name
        said = str(raised.value).removeprefix(str(path))  # which may hold any digits
        assert told in said, name
        assert "8.8." not in said
        assert "\n" not in said

    path = tmp_path / "typed.parquet"
    columns = {"number": [1, 2], "ip": ["8.8.8.8", "8.8.4.4"], "share": [1.5, 2.0]}
    pa_parquet.write_table(pa.table(columns), path)
    with pytest.raises(TableFileError, match="column 'share' holds a value that is not a count"):
        diff(*pair, traffic=path, traffic_count="share")
    with pytest.raises(TableFileError, match=r"int64 holds no addresses.*--ip-column"):
        diff(*pair, traffic=path, ip_column="number")
