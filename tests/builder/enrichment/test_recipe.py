"""``[enrich]`` in recipes: what is misspelt, what is missing, and what changes nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from geolookup_builder.recipe import Enrich, load
from geolookup_builder.sources import FORMATS

from tests.builder.building import fails, recipe
from tests.builder.enrichment.enriching import ALL, STATIONS, enriched
from tests.skips import needs

GOOD = recipe("path = 'a.csv'")
FILES: dict[str, str | bytes] = {"a.csv": "network,isp\n8.8.8.0/24,x\n", "stations.csv": STATIONS}
LIBRARIES = {
    "time_zone": ("tzfpy", "zones", "time_zone = true"),
    "region_code": ("pycountry", "regions", "region_code = true"),
    "weather": ("scipy", "weather", "[enrich.weather]\nstations = 'stations.csv'"),
}


def enrich_of(folder: Path, text: str) -> Enrich:
    path = folder / "recipe.toml"
    path.write_text(GOOD + text)
    return load(path, {name: each.options for name, each in FORMATS.items()}).enrich


def test_what_is_asked_for_and_what_is_wrong(tmp_path: Path) -> None:
    stations = tmp_path / "stations.csv"
    assert enrich_of(tmp_path, "") == Enrich()
    assert enrich_of(tmp_path, "[enrich]\n") == Enrich()
    assert enrich_of(tmp_path, f"[enrich]\n{ALL}") == Enrich(True, True, stations, 50.0)
    far = enrich_of(tmp_path, "[enrich.weather]\nstations = 'stations.csv'\nmax_km = 7\n")
    assert far == Enrich(stations=stations, max_km=7.0)
    for text, (problem, remedy) in WRONG.items():
        error = fails(tmp_path, FILES, GOOD + text)
        assert (error.path, error.problem) == (str(tmp_path / "recipe.toml"), problem)
        assert remedy in (None, error.remedy), text


_FAR = "enrich.weather.max_km is not between 0 and 20040"
#: Text: problem and remedy.
WRONG: dict[str, tuple[str, str | None]] = {
    "[enrch]": ("unknown key enrch", "did you mean 'enrich'?"),
    "[enrich]\ntimezone = true": ("unknown key enrich.timezone", "did you mean 'time_zone'?"),
    "[enrich]\ntime_zone = 1": ("enrich.time_zone is neither true nor false", None),
    "[enrich]\nregion_code = 'yes'": ("enrich.region_code is neither true nor false", None),
    "[enrich]\nweather = 's.csv'": ("no [enrich.weather] table", "add [enrich.weather]"),
    "[enrich.weather]": ("enrich.weather.stations is missing", None),
    "[enrich.weather]\nstations = 5": ("enrich.weather.stations is not a text", None),
    "[enrich.weather]\nstation = 's'": (
        "unknown key enrich.weather.station",
        "did you mean 'stations'?",
    ),
    **{
        f"[enrich.weather]\nstations = 's'\nmax_km = {value}": (_FAR, "write max_km = 50")
        for value in ("0", "-1", "nan", "inf", "true", "'50'", "20041", "1" + "0" * 400)
    },
}


@pytest.mark.parametrize("key", LIBRARIES)
def test_a_library_that_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    library, module, text = LIBRARIES[key]
    for name in [each for each in sys.modules if each.partition(".")[0] == library]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, f"geolookup_builder.enrichment.{module}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    switch = text if text.startswith("[") else f"[enrich]\n{text}"
    error = fails(tmp_path, {**FILES, "a.csv": "no range at all"}, GOOD + switch)
    assert error.problem.startswith(f"enrich.{key} needs {library} (")
    assert error.remedy == 'pip install "geolookup[enrich]"'
    assert not (tmp_path / "dataset").exists()


@needs("tzfpy", "pycountry", "scipy")
def test_nothing_to_fill(tmp_path: Path) -> None:
    for rows in ((), ("x",)):
        answers, counts = enriched(tmp_path, ALL, "isp", *rows)
        assert answers == [{"isp": row} for row in rows]
        assert counts.keys() == {"time_zone", "region_code", "weather_code"}
        assert {(each.filled, each.not_found) for each in counts.values()} == {(0, 0)}
