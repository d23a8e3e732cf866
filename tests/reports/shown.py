"""The tables of a page, from its sections, against figures of lookups and of comparisons."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import geolookup
from tests.internals.contract import special
from tests.internals.reports import Section, Table
from tests.walk import walk

#: The rows of each table by its caption, without the head.
Tables = Mapping[str, list[list[str]]]
UNITS = {"ipv4": "IPv4 addresses", "ipv6": "IPv6 /64 networks"}
#: Pages name fields as calls do.
SHORT: dict[str, str] = {field.path: field.short_name for field in geolookup.fields()}
_WORDS = {"million": 1e6, "billion": 1e9, "trillion": 1e12, "quadrillion": 1e15}


def of_sections(sections: Iterable[Section]) -> dict[str, list[list[str]]]:
    tables: dict[str, list[list[str]]] = {}
    for section in sections:
        values = section.values
        kinds = (values.get(name, ()) for name in ("charts", "tables", "details"))
        for entry in (part for kind in kinds for part in kind):
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
    digits, _, power = digits.replace(",", "").partition("^")
    return float(digits) ** int(power or 1) * _WORDS.get(word, 1)


def close(values: Iterable[float]) -> list[Any]:
    """The values as texts state them.

    Counts are whole from 10 on and have two digits from 10^15 on; shares are in 0.01 %.
    """
    return [
        pytest.approx(value, rel=5.1e-2)
        if abs(value) >= 1e15
        else pytest.approx(value, rel=1e-9, abs=0.51)
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
        self.space = defaultdict[str, float](float)
        self.of_system: defaultdict[int, list[Any]] = defaultdict(list)
        self.names: defaultdict[int, Counter[str]] = defaultdict(Counter)
        self.with_value = Counter[str]()
        self.codes: set[str | None] = set()
        with geolookup.open(dataset) as engine:
            listed = [node for node in walk(engine) if node[0].version == family]
            zones = [engine.get(str(entry[0][0]), "time.zone") for entry in listed]
        self.networks = [network for network, _ in listed]
        for (network, record), zone in zip(listed, zones, strict=True):
            groups: dict[str, Any] = {**record, "time": {"zone": zone}}
            known = {
                SHORT.get(f"{group}.{name}", f"{group}.{name}")
                for group, members in groups.items()
                for name, value in members.items()
                if value is not None
            }
            self.with_value.update(dict.fromkeys(known, network.num_addresses))
            self._add_place(network, record["location"])
            self._add_system(network, record["network"])

    @property
    def of(self) -> int:
        """The addresses that shares are of: public ones of IPv4, known ones of IPv6 (none: 1)."""
        if self.family == 6:
            return sum(network.num_addresses for network in self.networks) or 1
        return _public_ipv4()

    def _add_place(self, network: Any, location: dict[str, Any]) -> None:
        self.codes.add(location["country_code"])
        self.space[_country(location)] += size(network)

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
        seen.space.pop("no country", None)
        # No chart without values.
        by_country = tables.get(f"IPv{family} {unit[5:]} by country", [])
        _check_ranking(by_country, [row[0] for row in by_country], seen.space)
        by_system = tables.get(f"IPv{family} {unit[5:]} by AS", [])
        systems = [row[0].partition(" ") for row in by_system]
        numbered = {f"AS{asn}": sum(map(size, of)) for asn, of in seen.of_system.items()}
        _check_ranking(by_system, [number for number, _, _ in systems], numbered)
        for number_, _, name in systems:
            named = {k: count for k, count in seen.names[int(number_[2:])].items() if k}
            assert named.get(name, 0) == max(named.values(), default=0), number_
        nulls = {
            row[0]: row[1 + (family == 6)] for row in tables["Share without a value, by field"]
        }
        assert len(nulls) > 25
        absent = (1 - seen.with_value[path] / seen.of for path in nulls)
        assert numbers(list(nulls.values())) == close(absent)
    of_public, _, _ = figures["IPv4 addresses known"][1].partition(" of public space")
    ipv4 = NetworkSums(dataset, 4)
    assert [number(of_public)] == close([sum(ipv4.space.values()) / ipv4.of])
    assert figures["Countries"][0] == str(len(codes - {None}))


def _check_ranking(rows: list[list[str]], labels: list[str], weights: Mapping[str, float]) -> None:
    whole = sum(weights.values())
    ranked = sorted(filter(None, weights.values()), reverse=True)[:300]
    assert numbers([row[1] for row in rows]) == close(ranked)
    for label, (_, *counts) in zip(labels, rows, strict=True):
        assert numbers(counts) == close((weights[label], weights[label] / whole)), label


def _public_ipv4() -> int:
    return sum(b - a + 1 for a, b, kind in special.partition(4) if kind == special.PUBLIC)
