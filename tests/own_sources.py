"""A small dataset with own columns of every type, private ones too, built from sources."""

from __future__ import annotations

from pathlib import Path

from tests.datasets import once

#: Own columns of each type; ``is_vpn`` and ``is_tor`` are one layer. Two are private.
COLUMNS = """
[columns]
site_id = { type = "text", private = true, description = "our name of a site" }
risk_score = "integer"
share = "real"
is_vpn = { type = "boolean", group = "threat" }
is_tor = { type = "boolean", group = "threat" }
tags = { type = "texts", private = true }
"""
RECIPE = f"""
[dataset]
name = "own"
{COLUMNS}
[[source]]
format = "csv"
path = "sites.csv"
columns = {{ network = "net", site_id = "site", risk_score = "risk", tags = "tags" }}

[[source]]
format = "jsonl"
path = "threats.jsonl"

[[source]]
format = "csv"
path = "places.csv"
"""
FILES = {
    "sites.csv": """net,site,risk,tags
8.8.8.0/24,Mountain View,10,dns; any
8.8.8.8/32,"the ""1"" site",,
1.1.1.0/24,,-7,
10.0.0.0/8,HQ,5,"[""internal"", ""a;b""]"
10.1.0.0/16,Branch,6,
100.64.0.0/10,CGNAT,,
192.0.2.0/24,documentation,,
fd00::/8,ULA,1,v6
::ffff:172.16.0.0/108,mapped,,
2001:4860:4860::/48,dns6,,dns
""",
    "threats.jsonl": """{"network": "8.8.0.0/16", "is_vpn": true, "share": 0.5, "tags": ["vpn"]}
{"network": "9.9.9.0/24", "is_vpn": false, "is_tor": true, "risk_score": 99}
{"network": "192.168.0.0/16", "is_vpn": true, "site_id": "lab"}
""",
    "places.csv": """network,country_code,city_name,asn,own.share
8.0.0.0/8,US,,15169,1e-7
9.9.9.0/24,CH,Zurich,19281,
192.168.0.0/16,DE,,,
""",
}


def write_sources(folder: Path, recipe: str = RECIPE) -> Path:
    """Write the sources and the recipe into a folder; return the recipe."""
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    path = folder / "recipe.toml"
    path.write_text(recipe, encoding="utf-8")
    return path


def own_dataset() -> Path:
    """Return the dataset; tests must not change it."""
    return once("own", lambda output: _build(output, RECIPE))


def _build(output: Path, recipe: str) -> None:
    from tempfile import TemporaryDirectory

    from tests.internals.builder import build

    with TemporaryDirectory() as folder:
        build(write_sources(Path(folder), recipe), output, max_rejected=0)
