"""The tables of a page, from its sections, against figures of lookups and of comparisons."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from ipaddress import collapse_addresses
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.comparison import Part
from geolookup.comparison.changes import Changes, by_distance, by_kind, country_flows
from geolookup.comparison.measures import FieldChange
from geolookup.contract import special
from geolookup.errors import count_text
from geolookup.reports.dataset.row_names import LEVELS
from geolookup.reports.difference import Difference
from geolookup.reports.section import Section, Table
from tests.walk import walk

#: The rows of each table by its caption, without the head.
Tables = Mapping[str, list[list[str]]]
UNITS = {"ipv4": "IPv4 addresses", "ipv6": "IPv6 /64 networks"}
_WORDS = {"million": 1e6, "billion": 1e9, "trillion": 1e12, "quadrillion": 1e15}


def of_sections(sections: Iterable[Section]) -> dict[str, list[list[str]]]:
    tables: dict[str, list[list[str]]] = {}
    for section in sections:
        values = section.values
        pairs = [item for pair in values.get("pairs", ()) for item in pair]
        kinds = (values.get(name, ()) for name in ("first", "charts", "tables", "details"))
        for entry in (*pairs, *(table for kind in kinds for table in kind)):
            caption = getattr(entry, "caption", None) or entry.title
            tables[caption] = [[str(getattr(c, "text", c)) for c in row] for row in entry.rows]
            if isinstance(entry, Table):  # its columns that are not words
                numeric = {*range(1, len(entry.head))} - {*entry.words}
                assert all(
                    numbers([row[at] for at in numeric]) for row in tables[caption] if numeric
                )
        if "figures" in values:
            tables["figures"] = [list(figure) for figure in values["figures"]]
    return tables


def number(text: str) -> float:
    """Return the number that a text states; not a number for none."""
    if text in ("-", ""):
        return float("nan")
    digits, _, word = text.partition(" ")
    if "%" in text:
        return {"<": 5e-5, ">": 1 - 5e-5}.get(text[0], float(digits.strip("<> ") or 0) / 100)
    return float(digits.replace(",", "")) * _WORDS.get(word, 1)


def close(values: Iterable[float]) -> list[Any]:
    """The values as texts state them: whole counts from 10 on, shares in 0.01 %."""
    return [
        pytest.approx(value, rel=1e-9, abs=0.51)
        if abs(value) >= 10
        else pytest.approx(value, rel=5e-3, abs=6e-5, nan_ok=True)
        for value in values
    ]


def numbers(row: Sequence[str]) -> list[float]:
    return [number(text) for text in row]


class NetworkSums:
    """Sums over the networks of one family of a dataset, each with its answer."""

    def __init__(self, dataset: Path, family: int) -> None:
        self.family = family
        self.space, self.region, self.city = (defaultdict[str, float](float) for _ in range(3))
        self.of_system: defaultdict[int, list[Any]] = defaultdict(list)
        self.names: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self.depths, self.with_value = Counter[str](), Counter[str]()
        self.codes: set[str | None] = set()
        with geolookup.open(dataset) as engine:
            listed = [node for node in walk(engine) if node[0].version == family]
            zones = [engine.data(str(entry[0][0]))["time"]["zone"] for entry in listed]
        self.networks = [network for network, _ in listed]
        for (network, record), zone in zip(listed, zones, strict=True):
            groups: dict[str, Any] = {**record, "time": {"zone": zone}}
            known = {
                f"{group}.{name}"
                for group, members in groups.items()
                for name, value in members.items()
                if value is not None
            }
            self.with_value.update(dict.fromkeys(known, network.num_addresses))
            self._add_place(network, record["location"], known)
            self._add_system(network, record["network"])

    @property
    def of(self) -> int:
        """The addresses that shares are of: public ones of IPv4, known ones of IPv6 (none: 1)."""
        if self.family == 6:
            return sum(network.num_addresses for network in self.networks) or 1
        return _public_ipv4()

    def _add_place(self, network: Any, location: dict[str, Any], known: set[str]) -> None:
        space, region = size(network), location["region_code"] or location["region_name"]
        name = _country(location)
        self.codes.add(location["country_code"])
        self.space[name] += space
        self.region[name] += space * bool(region)
        self.city[name] += space * bool(location["city_name"])
        if any(not path.startswith("network.") for path in known):
            stated = (location["city_name"], region, location["country_code"], True)
            level = next(name for name, value in zip(LEVELS, stated, strict=True) if value)
            self.depths[level] += network.num_addresses

    def _add_system(self, network: Any, system: dict[str, Any]) -> None:
        if asn := system.get("asn"):
            self.of_system[asn].append(network)
            self.names[asn][system["asn_organization"] or ""] += network.num_addresses


def _country(location: dict[str, Any]) -> str:
    if location["country_code"]:
        return f"{location['country_name']} ({location['country_code']})"
    return (
        f"{location['continent_name']}, no country" if location["continent_name"] else "no country"
    )


def size(network: Any) -> float:
    """The space of a network in the unit of its family."""
    return float(network.num_addresses) if network.version == 4 else network.num_addresses / 2**64


def check_dataset(tables: Tables, dataset: Path) -> None:
    codes: set[str | None] = set()
    figures = {name: (value, note) for name, value, note in tables["figures"]}
    for family in (4, 6):
        seen, unit = NetworkSums(dataset, family), UNITS[f"ipv{family}"]
        whole = sum(seen.space.values())
        codes |= seen.codes
        if family == 4:
            assert number(figures[f"{unit} known"][0]) == pytest.approx(whole, rel=5e-3)
        else:
            assert [number(figures["IPv6 space known"][0])] == close([whole / 2**61])
        _check_countries(tables[f"IPv{family} per country"], seen, whole)
        _check_systems(tables, seen, whole)
        lengths = Counter(f"/{network.prefixlen}" for network in seen.networks)
        shown = tables[
            f"IPv{family}: {count_text(len(seen.networks), 'prefix', 'prefixes')} by length"
        ]
        assert {name: int(text) for name, text in shown if text != "0"} == lengths
        depths = {row[0]: row[1:] for row in tables["Finest known level of the location"]}
        expected = (seen.depths[level] / seen.of for level in LEVELS)
        assert numbers(depths[f"IPv{family}"]) == close(expected)
        nulls = dict(tables[f"IPv{family}: share without a value, by field"])
        assert len(nulls) > 25
        absent = (1 - seen.with_value[path] / seen.of for path in nulls)
        assert numbers(list(nulls.values())) == close(absent)
    of_public, _, _ = figures["IPv4 addresses known"][1].partition(" of public space")
    ipv4 = NetworkSums(dataset, 4)
    assert [number(of_public)] == close([sum(ipv4.space.values()) / ipv4.of])
    assert figures["Countries"][0] == str(len(codes - {None}))


def _check_countries(rows: list[list[str]], seen: NetworkSums, whole: float) -> None:
    space = {name: value for name, value in seen.space.items() if value}
    assert {row[0] for row in rows} == set(space)
    assert [number(row[1]) for row in rows] == close(sorted(space.values(), reverse=True))
    for name, count, of_all, _, region, city in rows:
        shares = (space[name] / whole, seen.region[name] / space[name])
        expected = (space[name], *shares, seen.city[name] / space[name])
        assert numbers((count, of_all, region, city)) == close(expected), name


def _check_systems(tables: Tables, seen: NetworkSums, whole: float) -> None:
    of = len(seen.of_system)
    rows = tables[
        f"IPv{seen.family}: {min(of, 50)} of {of} AS, by {UNITS[f'ipv{seen.family}'][5:]}"
    ]
    assert len(rows) == min(of, 50)
    spaces = {f"AS{asn}": sum(map(size, item)) for asn, item in seen.of_system.items()}
    assert numbers([row[2] for row in rows]) == close(sorted(spaces.values(), reverse=True)[:50])
    for asn, name, *counts in rows:
        networks = seen.of_system[int(asn[2:])]
        named = {item: count for item, count in seen.names[int(asn[2:])].items() if item}
        assert named.get(name, 0) == max(named.values(), default=0), asn
        expected = (spaces[asn], spaces[asn] / whole, len(list(collapse_addresses(networks))))
        assert numbers(counts) == close(expected), asn


def check_changes(tables: Tables, changed: Difference) -> None:
    """Check what the tables of ``--against`` state: the numbers of the comparison."""
    kinds = {row[0]: numbers(row[1:]) for row in tables["By kind of change"]}
    metrics = {row[0]: row[1:] for row in tables["Metrics that gates may name"]}
    coverages: defaultdict[str, list[float]] = defaultdict(list)
    for at, (name, part) in enumerate(changed.judged.parts.items()):
        family, changes = int(name[-1]), changed.overlaid.changes[name]
        sums = by_kind(changed.kinds[family], changes)
        of = sum(sums.values())
        for kind, weight in sums.items():
            shown = kinds.get(kind, [0.0] * 4)  # none has the kind
            assert shown[2 * at : 2 * at + 2] == close((weight, weight / of)), kind
        _check_moves(tables, UNITS[name], part, changed, changes)
        fields = {
            path: [v for count in _counts(change) for v in (count, count / of)]
            for path, change in part.fields.items()
        }
        listed = tables.get(f"Fields of {UNITS[name]}", ())
        assert {path: numbers(cells) for path, *cells in listed} == _without_zeros(fields)
        _check_sources(tables, family, part)
        movers = {f"AS{mover.asn} {mover.asn_organization}": mover for mover in part.movers}
        rows = tables.get(f"Networks with the most {UNITS[name]} whose location moved", [])
        assert [row[0] for row in rows] == [*movers]
        for system, *cells in rows:
            moved, of_all = movers[system].moved, movers[system].of_all
            assert numbers(cells) == close((moved.count, of_all, moved.share)), system
        for metric, value in part.metrics.items():
            stated = number(metrics[metric][at].removesuffix(" km"))
            assert stated == pytest.approx(value, rel=1e-5, abs=1e-6), metric
        known, public = part.coverage, 2**61 if family == 6 else _public_ipv4()
        for title, count, share in (
            ("known in the older dataset, of public space", known.old, known.old / public),
            ("known in this dataset, of public space", known.new, known.new / public),
            ("lost, of the older dataset", known.lost.count, known.lost.share),
            ("gained, of this dataset", known.gained.count, known.gained.share),
        ):
            coverages[title] += [count, share]
    coverage = {name: numbers(cells) for name, *cells in tables["Coverage"]}
    assert coverage == _without_zeros(coverages)


def _counts(change: FieldChange) -> tuple[float, float, float]:
    return change.null_gained, change.null_lost, change.changed


def _without_zeros(rows: Mapping[str, Sequence[float]]) -> dict[str, list[Any]]:
    """Return the rows that a table shows: not those of zeros, nor columns of zeros."""
    kept = [at for at, column in enumerate(zip(*rows.values(), strict=True)) if any(column)]
    return {name: close(row[at] for at in kept) for name, row in rows.items() if any(row)}


def _public_ipv4() -> int:
    return sum(b - a + 1 for a, b, kind in special.partition(4) if kind == special.PUBLIC)


def _check_moves(
    tables: Tables, title: str, part: Part, changed: Difference, changes: Changes
) -> None:
    moved = {
        level: close((share.count, share.of, share.share))
        for level, share in part.moved.items()
        if share.count
    }
    listed = tables.get(f"Moved, in {title}", ())
    assert {level: numbers(row) for level, *row in listed} == moved
    flows = country_flows(changed.overlaid.values, changes)
    total = sum(flow.weight for flow in flows)
    rows = tables.get(f"{title} that changed country", [])
    assert [row[:2] for row in rows] == [[flow.old, flow.new] for flow in flows]
    for (_, _, *cells), flow in zip(rows, flows, strict=True):
        assert numbers(cells) == close((flow.weight, flow.weight / total))
    classes = by_distance(changes)
    distances = tables.get(f"Distance between both locations of {title}")
    assert (distances is not None) == any(classes[1:])
    if distances is not None:
        assert numbers([row[1] for row in distances]) == close(classes)
        assert numbers([row[2] for row in distances]) == close(w / sum(classes) for w in classes)
    km = part.kilometres
    quantiles = (km.of, km.p50, km.p90, km.p99, km.max) if km.max else (0,)
    far = {row[0]: numbers(row[1:]) for row in tables["Distance"] if row[0] == title}
    assert far == _without_zeros({title: quantiles})


def _check_sources(tables: Tables, family: int, part: Part) -> None:
    """Locations by the source that decided them: lost of the older dataset's, gained of this."""
    for role, changes, kind in (
        ("the older dataset", part.old_sources, "lost"),
        ("this dataset", part.new_sources, "gained"),
    ):
        rows = tables.get(f"IPv{family} locations by their source in {role}", ())
        assert {name: numbers(cells) for name, *cells in rows} == _without_zeros(
            {
                item.source: [
                    *(item.moved[level].share for level in ("country", "region", "city")),
                    *(item.kilometres.p50, item.kilometres.p99),
                    getattr(item.location, kind).share,
                ]
                for item in changes
            }
        )


def check_truth(tables: Tables, parts: Mapping[str, Any]) -> None:
    """Check what the tables of ``--truth`` state; ``parts`` come from ``score --json``."""
    agreement = {row[0]: numbers(row[1:]) for row in tables["Agreement"]}
    rows = tables.get("Distance from the truth", ())
    distances = {row[0]: numbers(row[1:]) for row in rows}
    titles = {**UNITS, "networks": "rows of the truth"}
    assert all(values[0] for values in agreement.values())
    for name, part in parts.items():
        for level in ("country", "region", "city"):
            expected = _agreement(part["score"][level])
            shown = agreement.get(f"{level}, {titles[name]}")
            assert shown == (close(expected) if expected[0] else None), level
        far = part["score"]["kilometres"]
        stated = far["of"] or far["null"]["of"]
        assert distances.get(titles[name]) == (close(_distance(far)) if stated else None)
        worst = [
            (item["network"], level, item["wrong"]["count"], item["truth"], item["source"])
            for level in ("country", "region", "city")
            for item in part["worst"][level]
        ]
        rows = tables.get(f"Networks with the most wrong {titles[name]}", [])
        assert [(*row[:2], row[4], row[6]) for row in rows] == [(*w[:2], *w[3:]) for w in worst]
        assert [number(row[2]) for row in rows] == close(w[2] for w in worst)
        for kind, title in (("country", "Country"), ("source", "Source")):
            groups = {row[0]: numbers(row[1:3]) for row in tables[f"{title}: {titles[name]}"]}
            assert set(groups) == {group["name"] or "unknown" for group in part["by"][kind]}
            for group in part["by"][kind]:
                of, agree = group["score"]["of"], group["score"]["country"]["agree"]
                share = agree["share"] if agree["of"] else _NOTHING
                assert groups[group["name"] or "unknown"] == close((of, share))


_NOTHING = float("nan")


def _agreement(level: Mapping[str, Any]) -> list[float]:
    shares = [level[verdict] for verdict in ("agree", "wrong", "null")]
    values = [(s["count"], s["share"] if s["of"] else _NOTHING) for s in shares]
    return [level["agree"]["of"], *(item for pair in values for item in pair)]


def _distance(far: Mapping[str, Any]) -> list[float]:
    names = ("p50", "p90", "p99", "max", "within_50", "within_100")
    null = far["null"]["share"] if far["null"]["of"] else _NOTHING
    return [far["of"], *(far[name] if far["of"] else _NOTHING for name in names), null]
