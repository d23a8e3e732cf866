"""Time zones from coordinates: where they are taken from, and where there is none."""

from __future__ import annotations

import json
from pathlib import Path

from geolookup_builder.report import BuildReport, Filled

import geolookup
from geolookup.dataset import layout as fmt
from tests.builder.building import recipe
from tests.builder.enrichment.enriching import enriched
from tests.conftest import Build
from tests.skips import needs

pytestmark = needs("tzfpy")

ON = "time_zone = true\n"


def zones(folder: Path, count: int) -> list[str | None]:
    with geolookup.open(folder / "dataset") as engine:
        return [engine.data(f"8.8.{n}.1")["time"]["zone"] for n in range(count)]


ZONES = {
    "US,37.4,-122.08,": "America/Los_Angeles",
    "US,40.7,-74,": "America/New_York",
    "US,40.7,-74,America/Chicago": "America/Chicago",  # what is stated stays
    ",37.4,-122.08,": "America/Los_Angeles",  # coordinates are enough
    "SE,37.4,-122.08,": "Europe/Stockholm",  # a country of one zone has that one
    "AU,-27.5,153,": "Australia/Brisbane",
    "FJ,-17,-179.9,": "Pacific/Fiji",
    "US,0,-150,": None,  # at sea
    "US,37.4,,": None,
    "US,,-122.08,": None,
    "US,,,": None,
    "US,91,0,": None,  # a bad value nulls the location
    "AQ,-90,0,": "Antarctica/McMurdo",
    "RU,67,180,": "Asia/Anadyr",
    "RU,67,-180,": "Asia/Anadyr",
}


def test_zones_and_their_counts(tmp_path: Path) -> None:
    _, counts = enriched(tmp_path, ON, "country_code,latitude,longitude,time_zone", *ZONES)
    assert dict(zip(ZONES, zones(tmp_path, len(ZONES)), strict=True)) == ZONES
    assert set(counts) == {"time_zone"}
    columns = "country_code,latitude,longitude"
    rows = ("US,37.4,-122.08", "US,37.4,-122.08", "US,40.7,-74", "US,,", "SE,,", ",,", "US,0,-150")
    _, counts = enriched(tmp_path, ON, columns, *rows)
    assert counts == {"time_zone": Filled(2, 2)}
    report = BuildReport(enriched=counts)
    assert "time_zone: 2 locations filled, 2 not found" in list(report.lines())
    _, counts = enriched(tmp_path, "time_zone = false", columns, "US,1,1")
    assert (counts, zones(tmp_path, 1)) == ({}, [None])


def test_credits_and_sources_of_zones(build: Build) -> None:
    licences = {}
    for switch in ("true", "false"):
        text = recipe("path = 'a.csv'") + f"[enrich]\ntime_zone = {switch}\n"
        dataset, _ = build({"a.csv": "network,isp\n8.8.8.0/24,x\n"}, text)
        manifest = json.loads((dataset / fmt.MANIFEST).read_text())
        licences[switch] = {each["name"]: each["licence"] for each in manifest["credits"]}
    assert licences["true"] == {**licences["false"], "Timezone Boundary Builder": "ODbL-1.0"}
    # Nothing comes from another source than the one that decides.
    files: dict[str, str | bytes] = {
        "a.csv": "network,city_name\n8.8.8.0/24,Berlin\n",
        "b.csv": "network,latitude,longitude\n8.8.0.0/16,52.5,13.4\n",
    }
    text = recipe("path = 'a.csv'", "path = 'b.csv'") + "[enrich]\ntime_zone = true\n"
    dataset, report = build(files, text)
    assert report.enriched == {"time_zone": Filled(1, 1)}
    with geolookup.open(dataset) as engine:
        found = {ip: engine.data(ip)["time"]["zone"] for ip in ("8.8.8.8", "8.8.9.9")}
        assert found == {"8.8.8.8": None, "8.8.9.9": "Europe/Berlin"}
        assert engine.explain("8.8.9.9")["layers"]["location"]["source"] == "b.csv"
