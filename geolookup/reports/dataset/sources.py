"""The sections on sources: what each decides, how old it is, and whom to credit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from geolookup.contract.fields import LOCATION, OWN_PREFIX
from geolookup.dataset.intervals import UNIT_ADDRESSES, UNITS
from geolookup.dataset.manifest import OLD_AFTER
from geolookup.dataset.metadata import Metadata, Source, data_age
from geolookup.errors import line_text
from geolookup.pictures import wording
from geolookup.pictures.charts import Chart, bars, stacked_bars
from geolookup.reports.dataset.facts import Facts
from geolookup.reports.dataset.views import AGE_CLASSES, age_class
from geolookup.reports.section import Link, Section, Table, charts_section, counts_to_hide, link

_NOTE = (
    "Sources are numbered in order of precedence: in each layer, the first source that knows an "
    "address decides. IPv4: shares of the public addresses. IPv6: shares of the known addresses."
)
_PRIVATE_NOTE = (
    "Private own columns are known in special-purpose space too: theirs are shares of the "
    "addresses that have them."
)


def sources_section(facts: Facts) -> Section:
    """Return provenance by layer and the ages of the sources."""
    sources = _by_name(facts.metadata.sources)
    charts = [_provenance(facts, sources, family) for family in ("ipv4", "ipv6")]
    charts.append(_ages(sources))
    private = [_PRIVATE_NOTE] if facts.dataset.schema.private_layers else []
    note = " ".join([_NOTE, *private, *_update_sentences(facts)])
    charts.append(_age_shares(facts))
    return charts_section("sources", "Sources", note, charts, [_decides(facts, sources)])


def _by_name(sources: Sequence[Source]) -> dict[str, Source]:
    """Return the sources by unique names."""
    return {f"{number}. {source.origin}": source for number, source in enumerate(sources, 1)}


def _provenance(facts: Facts, sources: Mapping[str, Source], family: str) -> Chart:
    layers = list(facts.metadata.coverage)
    shares = [
        [
            source.coverage.get(layer, {}).get(family, 0) / _addresses(facts, layer, family)
            for source in sources.values()
        ]
        for layer in layers
    ]
    title = f"{wording.family(family)}: deciding source, by layer"
    rows = [_words(layer) for layer in layers]
    return stacked_bars(f"provenance-{family}", title, rows, list(sources), shares)


def _addresses(facts: Facts, layer: str, family: str) -> int:
    """Return the number of addresses that the shares of a layer are of, 1 for none."""
    if layer in facts.dataset.schema.private_layers:
        return facts.metadata.coverage[layer][family] or 1
    return facts.coverage[family].of or 1


def _ages(sources: Mapping[str, Source]) -> Chart:
    days = {name: data_age([(name, source.date)]).days for name, source in sources.items()}
    values = [(name, age) for name, age in days.items() if age is not None]
    undated = [(name, "no date stated") for name, age in days.items() if values and age is None]
    title = f"Age of sources in days; the line marks {OLD_AFTER} days"
    chart = bars("source-ages", title, "days", values, head="source", limit=OLD_AFTER)
    return replace(chart, rows=[*chart.rows, *undated])


def age_shares(facts: Facts, family: str) -> list[float]:
    """Return the shares of the located addresses of a family by the age of their source.

    They are by ``AGE_CLASSES``, and 0 if no address is located.
    """
    sums = np.zeros(len(AGE_CLASSES))
    for source in facts.metadata.sources:
        days = data_age([(source.name, source.date)]).days
        sums[age_class(days)] += source.coverage.get(LOCATION, {}).get(family, 0)
    total = float(sums.sum()) or 1.0
    return [float(amount) / total for amount in sums]


def _age_shares(facts: Facts) -> Chart:
    families = [f"ipv{family}" for family in facts.space]
    shares = [age_shares(facts, family) for family in families]
    title = "Located addresses by the age of their source"
    labels = [wording.family(family) for family in families]
    return stacked_bars("location-ages", title, labels, AGE_CLASSES, shares)


def _update_sentences(facts: Facts) -> Iterator[str]:
    """Yield how much of the locations an update of old sources can change."""
    # The classes up to OLD_AFTER days are recent; of the last, without a date, nothing is known.
    recent = age_class(OLD_AFTER) + 1
    shares = {
        f"IPv{family}": sum(age_shares(facts, f"ipv{family}")[recent:-1]) for family in (4, 6)
    }
    listed = " and ".join(f"{wording.percent(share)} of {name}" for name, share in shares.items())
    if any(shares.values()):
        yield (
            f"Sources older than {OLD_AFTER} days decide the locations of {listed}: an update of "
            "these sources can change no more than that."
        )


def _decides(facts: Facts, sources: Mapping[str, Source]) -> Table:
    heads = ((f"IPv{family} {unit}", f"share of IPv{family}") for family, unit in UNITS.items())
    head = ("Source", "layer", *chain.from_iterable(heads))
    rows = [
        (wording.name(name), _words(layer), *_counts(facts, layer, count))
        for name, source in sources.items()
        for layer, count in source.coverage.items()
    ]
    return Table("What each source decides", head, rows, (1,), counts_to_hide(6, 4))


def _counts(facts: Facts, layer: str, addresses: Mapping[str, int]) -> Iterator[str]:
    for family, unit in UNIT_ADDRESSES.items():
        count = addresses.get(f"ipv{family}", 0)
        yield wording.count(count / unit)
        yield wording.percent(count / _addresses(facts, layer, f"ipv{family}"))


def _words(layer: str) -> str:
    """Return the name of a layer; own columns keep theirs."""
    return layer if layer.startswith(OWN_PREFIX) else layer.replace("_", " ")


_CREDIT_NOTE = (
    "Keep these credits where you publish the dataset or its answers. The recipe states them for "
    "the sources. A reference table completes what the sources state about a country."
)
_CREDIT_HEAD = ("Source", "format", "date", "licence", "attribution", "URL")


def licences_section(facts: Facts) -> Section:
    """Return the licence and the attribution of each source and reference table."""
    return credits_section(facts.metadata)


def credits_section(metadata: Metadata) -> Section:
    """Return ``licences_section`` of a dataset's metadata."""
    rows = [*_source_credits(metadata.sources), *_table_credits(metadata.credits)]
    table = Table("Sources and their licences", _CREDIT_HEAD, rows, range(1, len(_CREDIT_HEAD)))
    return charts_section("licences", "Licences", _CREDIT_NOTE, [], [table])


def _source_credits(sources: Sequence[Source]) -> Iterator[tuple[str | Link, ...]]:
    for number, source in enumerate(sources, 1):
        texts = (source.date, source.licence, source.attribution)
        words = (line_text(text) if text else "not stated" for text in texts)
        name, address = f"{number}. {wording.name(source.origin)}", source.url or "not stated"
        yield name, wording.name(source.format), *words, link(address)


def _table_credits(tables: Sequence[Mapping[str, str]]) -> Iterator[tuple[str | Link, ...]]:
    for table in tables:
        words = (line_text(table[member]) for member in ("licence", "attribution"))
        yield wording.name(table["name"]), "reference table", "", *words, link(table["url"])
