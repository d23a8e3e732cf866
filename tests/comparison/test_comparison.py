"""What a comparison says as a whole: of equal datasets, of sources, of damaged ones; its pages."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pyarrow as pa
import pytest

from geolookup import comparison as diff
from geolookup.comparison import Comparison, Part, metrics, scoring
from geolookup.comparison.metrics import NAMES
from geolookup.comparison.scoring import gating
from geolookup.contract import special
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import read_manifest
from geolookup.errors import DatasetError
from tests.comparison.conftest import dataset
from tests.conftest import ROOT
from tests.damage import copied
from tests.datasets import SMALL
from tests.docs.blocks import blocks


def test_equal_datasets_have_nothing_but_zeros() -> None:
    comparison = diff.compare(SMALL, SMALL)
    for part in comparison.parts.values():
        assert list(part.metrics) == list(NAMES)
        assert not any(part.metrics.values())
        assert part.coverage.old == part.coverage.new > 0
        assert part.movers == []
        assert part.old_sources == part.new_sources != []


def test_a_city_or_region_elsewhere_is_another_one(tmp_path: Path) -> None:
    """Whatever its name, and also where a region is not known."""
    head = "network,country_code,region_name,city_name\n"
    places = ("US,,Moscow", "US,One,Moscow"), ("RU,,Moscow", "US,Two,Moscow")
    old, new = (
        dataset(tmp_path / name, world=f"{head}8.8.8.0/24,{one}\n9.9.9.0/24,{other}\n")
        for name, (one, other) in zip(("old", "new"), places, strict=True)
    )
    moved = diff.compare(old, new).parts["ipv4"].moved
    counts = {level: (moved[level].count, moved[level].of) for level in ("region", "city")}
    assert counts == {"region": (256, 256), "city": (512, 512)}


def test_movers_are_ranked_and_cut(pair: tuple[Path, Path]) -> None:
    assert [each.asn for each in diff.compare(*pair).parts["ipv4"].movers] == [2]
    assert diff.compare(*pair, most_movers=0).parts["ipv4"].movers == []


def test_space_that_became_private_is_not_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "network,country_code\n192.168.0.0/24,{}\n192.167.255.0/24,{}\n"
    with monkeypatch.context() as patched:
        parts = (
            (first, last, special.PUBLIC if first >> 24 == 192 else kind)
            for first, last, kind in special.partition(4)
        )
        patched.setitem(special._SPACES, 4, special._Space(4, tuple(parts)))
        old = dataset(tmp_path / "old", world=rows.format("US", "US"))
        new = dataset(tmp_path / "new", world=rows.format("DE", "US"))
        assert diff.compare(old, new).parts["ipv4"].moved["country"].count == 256
    part = diff.compare(old, new).parts["ipv4"]
    assert (part.moved["country"].count, part.moved["country"].of) == (0, 256)


def _rewritten(folder: Path, file: str, column: str, at: int, value: int) -> None:
    """Put another value into a column, where the manifest says it lies."""
    manifest = json.loads((folder / fmt.MANIFEST).read_bytes())
    described = manifest["files"][file]["columns"][column]
    width = pa.type_for_alias(described["type"].replace("dictionary<values=", "")).bit_width // 8
    offset = described["buffers"][1][0] + at * width
    data = bytearray((folder / file).read_bytes())
    data[offset : offset + width] = value.to_bytes(width, "little")
    (folder / file).write_bytes(data)


def test_damage_is_told(pair: tuple[Path, Path], tmp_path: Path) -> None:
    for file, column, told in (
        (fmt.IPV4, "start", "out of order"),
        (fmt.IPV4, "location", "outside its table"),
        (fmt.IPV4, "network", "outside its table"),
        (fmt.IPV6, "start_high", "out of order"),
        (fmt.IPV6, "location", "outside its table"),
        (fmt.PROVENANCE[4], "start", "out of order"),
        (fmt.PROVENANCE[4], "location", "outside its table"),
        (fmt.LOCATION, "country", "outside its table"),
        (fmt.LOCATION, "zone", "outside its table"),
    ):
        damaged = copied(pair[1], tmp_path / f"{file}-{column}")
        _rewritten(damaged, file, column, 1, 200)
        _rewritten(damaged, file, column, 2, 199)
        for sides in ((pair[0], damaged), (damaged, pair[0])):
            with pytest.raises(DatasetError, match=told):
                diff.compare(*sides)
    files = json.loads((pair[1] / fmt.MANIFEST).read_bytes())["files"]
    for column, table in (("country", fmt.COUNTRY), ("zone", fmt.ZONE)):  # just outside
        damaged = copied(pair[1], tmp_path / column)
        _rewritten(damaged, fmt.LOCATION, column, 1, files[table]["rows"])
        with pytest.raises(DatasetError, match="outside its table"):
            diff.compare(pair[0], damaged)
    damaged = copied(pair[1], tmp_path / "refused by Arrow")
    path = damaged / fmt.LOCATION
    path.write_bytes(path.read_bytes()[:-6] + b"\0" * 6)
    with pytest.raises(DatasetError, match="damaged"):
        diff.compare(pair[0], damaged)


def test_each_column_of_the_report_has_its_head(pair: tuple[Path, Path]) -> None:
    printed = diff.lines(diff.compare(*pair))
    lines = [line.split() for line in printed]
    assert ["fields", "nulls", "gained", "nulls", "lost", "changed"] in lines
    assert ["location.country_code", "128", "256", "64"] in lines
    for line, role, path in zip(printed, ("old", "new"), pair, strict=False):
        about = read_manifest(path).metadata()
        assert line.startswith(f"{role} ")
        assert line.endswith(f" {about.name}, generation {about.generation}, {path}")
    head = ["network", "in", "new", "moved", "of", "all", "moved", "of", "the", "network"]
    count, *shares = lines[lines.index(head) + 1][-5:]
    assert count.isdecimal()
    assert shares[1::2] == ["%", "%"]


SCORE = ROOT / "docs" / "score.md"


def test_metrics_and_keys_of_the_json_are_told() -> None:
    for name, kinds, more, measured in (
        ("diff", (Comparison, Part), {"gates"}, metrics.NAMES),
        ("score", (scoring.Score, scoring.ScoredPart), set[str](), gating.NAMES),
    ):
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        section = text.split("\n## JSON\n")[1].split("\n## ")[0]
        rows = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
        told = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
        assert told == {field.name for kind in kinds for field in fields(kind)} | more
        for metric in measured:
            kind, _, field = metric.partition(".")
            assert f"`{kind}{'.FIELD' if field else ''}`" in text, metric


def test_the_example_is_of_the_rows_of_the_project() -> None:
    rows = (ROOT / "sample_data" / "places.csv").read_text(encoding="utf-8").splitlines()
    [text] = [each.text for each in blocks(SCORE) if each.name == "places.csv"]
    assert set(text.splitlines()) <= set(rows)
