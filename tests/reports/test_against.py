"""``geolookup report --against``: the numbers are those of lookups in both datasets."""

from __future__ import annotations

import re
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pytest

import geolookup
from geolookup.dataset.intervals import Addresses
from geolookup.reports.changes.difference import Difference, change_view, difference
from geolookup.reports.changes.moved import moved_densities, moved_section
from geolookup.reports.changes.section import change_section
from tests.cli.program import run
from tests.comparison import oracle
from tests.comparison.conftest import dataset, old_and_new
from tests.datasets import SMALL
from tests.reports.shown import Sampled, check_changes, of_sections, sampled
from tests.skips import needs

OLD, NEW = old_and_new()
#: Both datasets whole, for ``sampled``: addresses of IPv4, and one of each half of the /32.
WINDOWS = {
    "ipv4": ([("8.8.8.0", 256), ("9.9.9.0", 256), ("11.0.0.0", 256)], 1.0),
    "ipv6": ([("2a00::", 1), ("2a00:0:8000::", 1)], 2.0**31),
}
#: Where the map is compared with lookups: first addresses, and how many from there on.
_MAPPED = {
    4: [("8.8.7.250", 270), ("9.9.9.0", 257), ("10.255.255.250", 12), ("11.0.0.0", 257)],
    6: [("2a00::", 3), ("2a00:0:7fff:ffff:ffff:ffff:ffff:fffe", 4), ("fd00::", 2)],
}


@pytest.fixture(scope="module")
def changed() -> Difference:
    return difference(OLD, NEW)


@pytest.fixture(scope="module")
def looked_up() -> Sampled:
    return sampled(OLD, NEW, WINDOWS)


def test_the_numbers_are_those_of_lookups(changed: Difference, looked_up: Sampled) -> None:
    check_changes(of_sections([change_section(changed)]), looked_up)


def test_every_address_of_the_map_has_the_kind_that_lookups_show(changed: Difference) -> None:
    with geolookup.open(OLD) as old, geolookup.open(NEW) as new:
        for family, windows in _MAPPED.items():
            view = change_view(changed, family)
            texts = [str(ip_address(first) + at) for first, size in windows for at in range(size)]
            addresses = Addresses.of(family, (int(ip_address(each)) for each in texts))
            labels = [view.labels[at] for at in view.values[view.starts.search(addresses) - 1]]
            seen = [oracle.seen(old, new, each) for each in texts]
            kinds = [each and (oracle.kind(each) or "unknown") for each in seen]
            assert labels == [each or "special-purpose" for each in kinds]


def test_places_have_what_moved_there_and_from_there(changed: Difference) -> None:
    found = {each.name: each for each in moved_densities(changed)}

    def places(name: str) -> list[tuple[float, ...]]:
        each = found[name]
        return list(zip(each.latitudes, each.longitudes, each.weights, strict=True))

    assert places("ipv6-moved-from-here") == [(48.86, 2.35, 2**31)]
    assert places("ipv6-moved-here") == [(52.52, 13.41, 2**31)]
    assert places("ipv4-moved-here") == [(45.42, -75.7, 64)]
    [(latitude, longitude, count)] = places("ipv4-moved-from-here")
    assert count == 64
    assert np.isnan([latitude, longitude]).all()
    assert {name: each.title for name, each in found.items()} == {
        f"ipv{family}-moved-{way.replace(' ', '-')}": f"IPv{family} {unit} that moved {way}"
        for family, unit in ((4, "addresses"), (6, "/64 networks"))
        for way in ("here", "from here")
    }


def test_a_dataset_against_itself_has_not_changed() -> None:
    changed = difference(SMALL, SMALL)
    section = change_section(changed)
    assert section.values["note"].startswith("Nothing has changed from")
    assert section.values["charts"] == []
    tables = of_sections([section])
    assert {row[1] for row in tables["By kind of change"][:-1]} == {"0"}
    assert {row[1] for row in tables["Moved, in IPv4 addresses"]} == {"0"}
    assert moved_section(changed) is None


def test_many_flows_and_networks_are_cut(tmp_path: Path) -> None:
    """The tables list 100 flows and 10 networks, the greatest first; others only count."""
    codes = ["AT", "BE", "BG", "CA", "CH", "CZ", "DE", "DK", "EE", "ES", "FI"]
    rows = "network,country_code,asn,asn_organization\n"
    old, new = (dataset(tmp_path / name, world=rows + "".join(
        f"20.{at}.{to}.0/{24 + to % 3},{codes[at] if name == 'old' else codes[to]},{to},N{to}\n"
        for at in range(11) for to in range(11)
    )) for name in ("old", "new"))  # fmt: skip
    tables = of_sections([change_section(difference(old, new))])
    flows = tables["IPv4 addresses that changed country"]
    sizes = sorted(
        (256 >> to % 3 for at in range(11) for to in range(11) if at != to), reverse=True
    )
    assert [int(row[2]) for row in flows] == sizes[:100]
    assert flows[0][3] == f"{sizes[0] / sum(sizes):.2%}".replace("%", " %")
    movers = tables["Networks with the most IPv4 addresses whose location moved"]
    assert [int(row[1].replace(",", "")) for row in movers] == [*[2560] * 4, *[1280] * 4, 640, 640]
    assert movers[0][0] == "no AS N0"
    assert movers[0][2:] == [f"{2560 / sum(sizes):.2%}".replace("%", " %"), "90.91 %"]


@needs("jinja2", "vl_convert", "PIL")
@pytest.mark.long
def test_a_failed_gate_is_status_1_with_a_page(tmp_path: Path) -> None:
    output = tmp_path / "report.html"
    gates = ("--fail-if", "ipv6.country_moved > 2%", "--fail-if", "ipv4.km_max > 800")
    done = run("report", str(NEW), "--output", str(output), "--against", str(OLD), *gates)
    assert done.returncode == 1, done.stderr
    plain = re.sub(r"<[^>]*>", " ", output.read_text(encoding="utf-8"))
    assert re.search(r"ipv6.country_moved &gt; 2%\s+ipv6.country_moved is 50 %\s+fails", plain)
    assert re.search(r"ipv4.km_max &gt; 800\s+ipv4.km_max is 0 km\s+passes", plain)
