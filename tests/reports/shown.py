"""The tables of a page, from its sections or from the browser, against figures of lookups."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from ipaddress import collapse_addresses, ip_address
from pathlib import Path
from typing import Any

import pytest

import geolookup
from geolookup.comparison.changes import CLASSES_KM, KINDS
from geolookup.contract import special
from geolookup.errors import count_text
from geolookup.reports.dataset.row_names import LEVELS
from geolookup.reports.section import Section, Table
from tests.browser import Reader
from tests.comparison import oracle
from tests.walk import walk

#: The rows of each table by its caption, without the head.
Tables = Mapping[str, list[list[str]]]
UNITS = {"ipv4": "IPv4 addresses", "ipv6": "IPv6 /64 networks"}
#: What a reader sees, also below what opens: texts of cells, and the figures in large type.
_TABLES = """() => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  return [...document.querySelectorAll("table")].map(table => [
    table.querySelector("caption").innerText,
    [...table.querySelectorAll("tbody tr")].map(row => [...row.cells].map(cell => cell.innerText)),
  ]);
}"""
_FIGURES = """() => [...document.querySelectorAll(".figures > div")].map(
  each => [...each.children].map(part => part.innerText))"""
_WORDS = {"million": 1e6, "billion": 1e9, "trillion": 1e12, "quadrillion": 1e15}


def of_browser(reader: Reader) -> dict[str, list[list[str]]]:
    """Return the tables that a page shows; ``figures`` are those in large type."""
    tables: dict[str, list[list[str]]] = {}
    for caption, rows in reader.page.evaluate(_TABLES):
        tables.setdefault(caption.removesuffix(", further rows"), []).extend(rows)
    return {**tables, "figures": reader.page.evaluate(_FIGURES)}


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


#: By part: addresses that are looked up, and the space that each stands for.
Sampled = Mapping[str, tuple[list[oracle.SeenAnswers], float]]


def check_changes(tables: Tables, sampled: Sampled) -> None:
    """Check what the tables of ``--against`` state."""
    kinds = {row[0]: numbers(row[1:]) for row in tables["By kind of change"]}
    metrics = {row[0]: row[1:] for row in tables["Metrics that gates may name"]}
    for at, (part, (seen, unit)) in enumerate(sampled.items()):
        counts = Counter(oracle.kind(entry) or "unknown" for entry in seen)
        del counts["unknown"]
        for kind in KINDS:
            expected = (counts[kind] * unit, counts[kind] / counts.total())
            shown = kinds.get(kind, [0.0] * 4)  # none has the kind
            assert shown[2 * at : 2 * at + 2] == close(expected), kind
        _check_moves(tables, UNITS[part], seen, unit)
        _check_fields(tables, UNITS[part], seen, unit)
        _check_sources(tables, part.replace("ip", "IP"), seen)
        _check_movers(tables, UNITS[part], seen, unit)
        for name, value in oracle.metrics(seen).items():
            metric = number(metrics[name][at].removesuffix(" km"))
            assert metric == pytest.approx(value, rel=1e-5, abs=1e-6), name
    _check_coverage(tables, sampled)


def _without_zeros(rows: Mapping[str, Sequence[float]]) -> dict[str, list[Any]]:
    """Return the rows that a table shows: not those of zeros, nor columns of zeros."""
    kept = [at for at, column in enumerate(zip(*rows.values(), strict=True)) if any(column)]
    return {name: close(row[at] for at in kept) for name, row in rows.items() if any(row)}


def _check_coverage(tables: Tables, sampled: Sampled) -> None:
    expected: defaultdict[str, list[float]] = defaultdict(list)
    for part, (seen, unit) in sampled.items():
        known = [oracle.coverage(entry) for entry in seen]
        old, new = (sum(side) * unit for side in zip(*known, strict=True))
        lost, gained = known.count((True, False)) * unit, known.count((False, True)) * unit
        public = 2**61 if part == "ipv6" else _public_ipv4()
        expected["known in the older dataset, of public space"] += [old, old / public]
        expected["known in this dataset, of public space"] += [new, new / public]
        expected["lost, of the older dataset"] += [lost, lost / old]
        expected["gained, of this dataset"] += [gained, gained / new]
    shown = {name: numbers(cells) for name, *cells in tables["Coverage"]}
    assert shown == _without_zeros(expected)


def _public_ipv4() -> int:
    return sum(b - a + 1 for a, b, kind in special.partition(4) if kind == special.PUBLIC)


def _check_moves(tables: Tables, title: str, seen: list[oracle.SeenAnswers], unit: float) -> None:
    moves = oracle.moves(seen)
    assert any(moved for moved, _ in moves.values()) == (f"Moved, in {title}" in tables)
    shown_moves = {level: numbers(row) for level, *row in tables.get(f"Moved, in {title}", ())}
    assert shown_moves == {
        level: close((moved * unit, of * unit, moved / of))
        for level, (moved, of) in moves.items()
        if moved
    }
    flows = oracle.country_flows(seen)
    flow_rows = tables.get(f"{title} that changed country", [])
    shown = {(old, new): cells for old, new, *cells in flow_rows}
    assert shown.keys() == flows.keys()
    for pair, count in flows.items():
        assert numbers(shown[pair]) == close((count * unit, count / flows.total())), pair
    classes = [count * unit for count in oracle.by_distance(seen, CLASSES_KM)]
    distances = tables.get(f"Distance between both locations of {title}")
    assert (distances is not None) == any(classes[1:])
    if distances is not None:
        assert numbers([row[1] for row in distances]) == close(classes)
        assert numbers([row[2] for row in distances]) == close(w / sum(classes) for w in classes)
    metrics, located = oracle.metrics(seen), sum(classes)
    quantiles = [metrics[f"km_{name}"] for name in ("p50", "p90", "p99", "max")]
    far = {row[0]: numbers(row[1:]) for row in tables["Distance"] if row[0] == title}
    assert far == _without_zeros({title: (located, *quantiles) if quantiles[-1] else (0,)})


def _check_fields(
    tables: Tables, title: str, seen: Sequence[oracle.SeenAnswers], unit: float
) -> None:
    shown = {path: numbers(cells) for path, *cells in tables.get(f"Fields of {title}", ())}
    expected, of = {}, sum(oracle.kind(entry) is not None for entry in seen)
    for path in seen[0].old:
        pairs = [(entry.old[path], entry.new[path]) for entry in seen]
        gained = sum(new is None is not old for old, new in pairs)
        lost = sum(old is None is not new for old, new in pairs)
        changed = sum(None not in (old, new) and old != new for old, new in pairs)
        counts = (gained, lost, changed)
        expected[path] = [value for count in counts for value in (count * unit, count / of)]
    assert shown == _without_zeros(expected)


def _check_sources(tables: Tables, family: str, seen: Sequence[oracle.SeenAnswers]) -> None:
    """Locations by the source that decided them: lost of the older dataset's, gained of this."""
    places = ("location.", "currency.", "time.")
    sides: tuple[tuple[str, Callable[[oracle.SeenAnswers], str | None], tuple[bool, bool]], ...] = (
        ("the older dataset", lambda known_row: known_row.old_source, (True, False)),
        ("this dataset", lambda known_row: known_row.new_source, (False, True)),
    )
    for role, source, changed in sides:
        rows = tables.get(f"{family} locations by their source in {role}", ())
        shown, expected = {name: numbers(cells) for name, *cells in rows}, {}
        for name in {*filter(None, map(source, seen))}:
            selection = [entry for entry in seen if source(entry) == name]
            metrics = oracle.metrics(selection)
            known = [oracle.coverage(item, places) for item in selection]
            of = sum(old if changed[0] else new for old, new in known)
            names = ("country_moved", "region_moved", "city_moved", "km_p50", "km_p99")
            share = known.count(changed) / of
            expected[name] = [*(metrics[item] for item in names), share]
        assert shown == _without_zeros(expected), role


def _check_movers(tables: Tables, title: str, seen: list[oracle.SeenAnswers], unit: float) -> None:
    movers = oracle.movers(seen)
    rows = tables.get(f"Networks with the most {title} whose location moved", [])
    expected = {f"AS{asn} {name}": counts for (asn, name), counts in movers.items()}
    assert {row[0] for row in rows} == set(expected)
    whole = sum(moved for moved, _ in movers.values())
    for name, *cells in rows:
        moved, of = expected[name]
        assert numbers(cells) == close((moved * unit, moved / whole, moved / of)), name


def sampled(
    old: Path, new: Path, windows: Mapping[str, tuple[Sequence[tuple[str, int]], float]]
) -> Sampled:
    """Look up windows of addresses in both datasets, by part, with the space of an address."""
    with geolookup.open(old) as before, geolookup.open(new) as after:
        return {
            part: (
                [
                    result
                    for first, count in listed
                    for at in range(count)
                    if (result := oracle.seen(before, after, str(ip_address(first) + at)))
                ],
                unit,
            )
            for part, (listed, unit) in windows.items()
        }


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
