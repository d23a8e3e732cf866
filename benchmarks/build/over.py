"""The part ``over``: a few thousand sites over a city dataset, without the files behind it."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from benchmarks.build.compiling import compile_to
from benchmarks.build.generated import CORES, city_recipe
from benchmarks.harness.processes import Result

_SITES = 3_000
_SEED = 20_260
_RECIPE = """[dataset]
name = "over"

[[source]]
format = "csv"
path = "sites.csv"

[[source]]
format = "dataset"
path = "city"
"""


def measure_over(rows: int | None) -> Result:
    """Compile City and ASN once, then the sites over that dataset."""
    recipe = city_recipe(rows)
    with tempfile.TemporaryDirectory(dir=recipe.parent) as temporary:
        folder = Path(temporary)
        compile_to(recipe, folder / "city", CORES)
        (folder / "sites.csv").write_text(sites(), encoding="utf-8")
        over = folder / "over.toml"
        over.write_text(_RECIPE, encoding="utf-8")
        return compile_to(over, folder / "over", CORES)


def sites() -> str:
    """Return the CSV: addresses, /24 and /48 networks, each with a place and a type of user."""
    draw = random.Random(_SEED)
    lines = ["network,country_code,city_name,latitude,longitude,user_type"]
    for number in range(_SITES):
        place = f"DE,Site {number},{draw.randrange(47_000, 55_000) / 1000},10.5,business"
        lines.append(f"{_network(draw, number)},{place}")
    return "\n".join(lines) + "\n"


def _network(draw: random.Random, number: int) -> str:
    if number % 5 == 0:
        return f"2a{draw.randrange(256):02x}:{draw.randrange(65536):x}:{number:x}::/48"
    host = draw.randrange(256) if number % 2 else 0
    address = f"{draw.randrange(11, 100)}.{draw.randrange(256)}.{draw.randrange(256)}.{host}"
    return f"{address}/32" if number % 2 else f"{address}/24"
