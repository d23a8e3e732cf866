"""The rule of the verifier in Go: every value that begins outside of others is a record."""

from __future__ import annotations

from pathlib import Path

import pytest

import geolookup
from tests.conftest import build_at
from tests.skips import needs, optional

decoder, maxminddb = optional("maxminddb.decoder"), optional("maxminddb")
pytestmark = needs("maxminddb")
_SEPARATOR = 16
_MARKER = b"\xab\xcd\xefMaxMind.com"


def begins(data: bytes) -> list[int]:
    """Return where values begin, one after the other to the end of the data section."""
    found, reader = [0], decoder.Decoder(data, 0)
    while found[-1] < len(data):
        found.append(reader.decode(found[-1])[1])
    assert found.pop() == len(data)
    return found


def referred(tree: bytes, nodes: int) -> set[int]:
    """Return the positions in the data section to which records of 24 bits lead."""
    values = (int.from_bytes(tree[at : at + 3], "big") for at in range(0, 6 * nodes, 3))
    return {value - nodes - _SEPARATOR for value in values if value > nodes}


def check(path: Path) -> None:
    with maxminddb.open_database(path, maxminddb.MODE_MEMORY) as reader:
        about = reader.metadata()
    assert about.record_size == 24
    content = path.read_bytes()
    tree, end = 6 * about.node_count, content.rindex(_MARKER)
    assert content[tree : tree + _SEPARATOR] == bytes(_SEPARATOR)
    data = content[tree + _SEPARATOR : end]
    found = begins(data) if data else []
    assert sorted(referred(content, about.node_count)) == found


def test_each_value_outside_of_others_is_a_record(files: dict[str, Path]) -> None:
    for path in files.values():
        check(path)


@pytest.mark.long
def test_records_without_shared_values(sample: geolookup.Engine, tmp_path: Path) -> None:
    fields = ("location.country_code", "location.country_is_eu")
    sample.export(tmp_path / "a.mmdb", "mmdb", schema="country", fields=fields)
    check(tmp_path / "a.mmdb")
    path, _ = build_at(tmp_path, {"a.csv": "network,country_code\n"})
    with geolookup.open(path) as engine:
        engine.export(tmp_path / "none.mmdb", "mmdb")
    check(tmp_path / "none.mmdb")


@pytest.mark.long
def test_values_that_parts_and_structures_share(tmp_path: Path) -> None:
    """The same texts are keys, names of several kinds and of networks, first here or there."""
    lines = ["network,country_code,region_code,region_name,city_name,isp,organization,asn"]
    texts = ("Singapore", "names", "x" * 300, "isp", "")
    for at in range(400):
        region, city, isp, other = (texts[at // 5**k % 5] for k in range(4))
        lines.append(f"8.{at // 256}.{at % 256}.0/24,SG,01,{region},{city},{isp},{other},{at % 7}")
    path, _ = build_at(tmp_path, {"a.csv": "\n".join(lines) + "\n"})
    with geolookup.open(path) as engine:
        for schema in ("city", "isp", "enterprise", "flat"):
            engine.export(tmp_path / "a.mmdb", "mmdb", schema=schema, force=True)
            check(tmp_path / "a.mmdb")
            get = maxminddb.open_database(tmp_path / "a.mmdb").get
            names = get("8.0.1.0")["city"]["names"] if schema == "city" else None
            assert names in (None, {"en": "Singapore"})
