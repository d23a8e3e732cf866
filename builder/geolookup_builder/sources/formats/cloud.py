"""The address ranges that cloud providers publish: AWS, Azure, Cloudflare, Google, Oracle.

A file states which prefixes a provider uses, and for which service. Regions and services are not
fields of the contract; own columns can hold them. A prefix is listed once for each service that
uses it. Where one of them is a delivery network, that decides: a service that stands for all
services lists the prefix too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from geolookup.dataset.intervals import I64
from geolookup.dataset.runs import run_starts
from geolookup.errors import BuildError
from geolookup.filesystem.unpacking import packing
from geolookup_builder.ranges import ParsedRanges, from_networks
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.reading import delimited, json_document, sniffing
from geolookup_builder.sources.reading.dictionary_columns import constant
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.json_document import entries, value
from geolookup_builder.sources.reading.own_values import (
    ALWAYS,
    Offer,
    Offers,
    OwnRequest,
    own_fields,
    own_request,
    stated,
    words,
)
from geolookup_builder.sources.reading.reader import Batch, SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import (
    Detection,
    Opening,
    begins_object,
    check_text,
    lines_match,
)
from geolookup_builder.sources.reading.stated_dates import in_first_lines
from geolookup_builder.sources.reading.text import line_layout, line_parts
from geolookup_builder.sources.reading.vendor_files import tables

_HOSTING, _DELIVERY = "hosting", "content_delivery_network"
#: Azure's and Amazon's services that deliver content, as they name them.
_DELIVERING = ("AzureFrontDoor", "CLOUDFRONT", "CLOUDFRONT_ORIGIN_FACING")

_GOOGLE_PREFIXES = ("ipv4Prefix", "ipv6Prefix")


class _PrefixUse(NamedTuple):
    """A prefix as a document states it, the provider that uses it, and for what."""

    prefix: object
    organization: str
    user_type: str | None
    region: object = None
    service: object = None


@dataclass(frozen=True, slots=True)
class _Provider:
    """A provider: keys near the beginning of its document, and its prefixes.

    ``ignored`` are the keys that no field holds, with the own column of each.
    """

    name: str
    keys: tuple[str, ...]
    prefixes: Callable[[Member, dict[str, Any]], list[_PrefixUse]]
    ignored: Mapping[str, str]


def _of_aws(member: Member, document: dict[str, Any]) -> list[_PrefixUse]:
    return [
        _PrefixUse(
            value(entry, key), "Amazon Web Services", _use(service), value(entry, "region"), service
        )
        for array, key in (("prefixes", "ip_prefix"), ("ipv6_prefixes", "ipv6_prefix"))
        for entry in entries(member, document, array)
        for service in (value(entry, "service"),)
    ]


def _of_azure(member: Member, document: dict[str, Any]) -> list[_PrefixUse]:
    tags = [value(tag, "properties") for tag in entries(member, document, "values")]
    return [
        _PrefixUse(prefix, "Microsoft Azure", _use(service), value(tag, "region"), service)
        for tag in tags
        for service in (value(tag, "systemService"),)
        for prefix in entries(member, tag, "addressPrefixes")
    ]


def _of_cloudflare(member: Member, document: dict[str, Any]) -> list[_PrefixUse]:
    result = value(document, "result")
    return [
        _PrefixUse(prefix, "Cloudflare", _DELIVERY)
        for array in ("ipv4_cidrs", "ipv6_cidrs")
        for prefix in entries(member, result, array)
    ]


def _of_google(member: Member, document: dict[str, Any]) -> list[_PrefixUse]:
    """Return the prefixes; customers' prefixes name a service, Google's own services do not."""
    return [use for entry in entries(member, document, "prefixes") for use in _google_entry(entry)]


def _google_entry(entry: object) -> Iterator[_PrefixUse]:
    """Yield the rows of an entry; one without a prefix is rejected."""
    prefixes = [prefix for key in _GOOGLE_PREFIXES if (prefix := value(entry, key))]
    service = value(entry, "service")
    name, user_type = ("Google", None) if service is None else ("Google Cloud", _HOSTING)
    for prefix in prefixes or [None]:
        yield _PrefixUse(prefix, name, user_type, value(entry, "scope"), service)


def _of_oracle(member: Member, document: dict[str, Any]) -> list[_PrefixUse]:
    return [
        _PrefixUse(
            value(entry, "cidr"), "Oracle Cloud", _HOSTING, value(region, "region"), _tags(entry)
        )
        for region in entries(member, document, "regions")
        for entry in entries(member, region, "cidrs")
    ]


def _tags(entry: object) -> str | None:
    tags = value(entry, "tags")
    return "/".join(map(str, tags)) if isinstance(tags, list) else None


def _use(service: object) -> str:
    return _DELIVERY if service in _DELIVERING else _HOSTING


_REGION, _SERVICE = "cloud_region", "cloud_service"
_IGNORED = {"region": _REGION, "service": _SERVICE}
_PROVIDERS = (
    _Provider("AWS", ("syncToken", "ip_prefix"), _of_aws, _IGNORED),
    _Provider("Azure", ("changeNumber", "addressPrefixes"), _of_azure, _IGNORED),
    _Provider("Cloudflare", ("ipv4_cidrs", "ipv6_cidrs"), _of_cloudflare, {}),
    _Provider("Google", ("syncToken", "ipv4Prefix"), _of_google, {"scope": _REGION}),
    _Provider("Oracle", ("regions", "cidrs"), _of_oracle, {"region": _REGION, "tags": _SERVICE}),
)
#: The own columns of documents, by columns of ``_PrefixUse``; Google's own services are not hosted.
_OFFERS: Offers = {
    "is_hosting": words("user_type", dict.fromkeys((_HOSTING, _DELIVERY), "true")),
    "cloud_provider": stated("organization"),
    _REGION: stated("region"),
    _SERVICE: stated("service"),
}
_OF_LIST: Offers = {"is_hosting": ALWAYS, "cloud_provider": Offer(constant="Cloudflare")}
_SUFFIXES = (".json", ".txt", "ips-v4", "ips-v6")
#: Cloudflare's lists: only their names tell them from lists of others.
_LIST = "Cloudflare's list"
_LIST_NAME = re.compile(r"(cloudflare[-_.])?ips-v[46](\.txt)?")
_LAYOUT = line_layout("[ \t]*#")
_PATTERN = r"^\s*(?P<network>\S+)\s*$"
_ROW = re.compile(rf"\s*{sniffing.NETWORK.pattern}\s*")


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    own = own_request(spec)
    files = [_identify(member, own) for member in members(spec.path, spec.base, _SUFFIXES)]
    own.check()
    names = dict.fromkeys(name for name, _ in files)
    ignored = dict.fromkeys(_ignored(p, own) for p in _PROVIDERS if p.name in names)
    notes = [f"{keys} ignored: no field holds them" for keys in ignored if keys]
    yield from tables(spec, [*names], files, lambda batches: batches(), notes)


def _ignored(provider: _Provider, own: OwnRequest) -> str:
    """Return the keys of a provider that neither a field nor an own column holds."""
    wanted = own.wanted.values()
    return ", ".join(key for key, name in provider.ignored.items() if name not in wanted)


def _identify(member: Member, own: OwnRequest) -> tuple[str, Callable[[], Iterator[Batch]]]:
    """Return the provider of a file and what reads it."""
    provider = _provider(member)
    if provider is not None:
        own_offers = own.choose(_OFFERS, _PrefixUse._fields)
        return provider.name, partial(_of_document, member, provider, own_offers)
    layout, meaning = own.extend(_LAYOUT, _of_list, _OF_LIST)
    return _LIST, lambda: delimited.batches(member, layout, meaning)


def _provider(member: Member) -> _Provider | None:
    """Return the provider of a document, None for a list; BuildError if a file is neither."""
    if begins_object(member):
        # The first kilobytes are searched for the keys: a document of gigabytes is not parsed.
        for provider in _PROVIDERS:
            if json_document.has_keys(member, provider.keys):
                return provider
    if not _is_list(member):
        check_text(member)
        problem = "not a file of ranges of " + ", ".join(p.name for p in _PROVIDERS)
        remedy = 'name such a file; for a plain list of prefixes use format = "cidr-list"'
        raise BuildError(member.label, problem, remedy=remedy)
    return None


def _is_list(member: Member) -> bool:
    has_list_name = any(_LIST_NAME.fullmatch(_plain_name(name)) for name in member.file_names)
    return has_list_name and lines_match(sniffing.opening(member).start, _LAYOUT, _ROW)


def _plain_name(name: str) -> str:
    return name.lower().removesuffix(packing(PurePath(name)))


def _of_document(member: Member, provider: _Provider, own: Mapping[str, Offer]) -> Iterator[Batch]:
    uses = _prefix_uses(member, provider)
    ranges = from_networks(json_document.texts(use.prefix for use in uses))
    # A prefix of AMAZON and of CLOUDFRONT: both rows get the fields of the second.
    rows = _deciding_rows(ranges, _ranks(uses))
    names = {"organization", "user_type", *(offer.columns[0] for offer in own.values())}
    cells = pa.RecordBatch.from_pydict({name: _cells(uses, name, rows) for name in sorted(names)})
    fields = {name: cells.column(name) for name in ("organization", "user_type")}
    fields |= own_fields(cells, own)
    read_prefixes = partial(_prefixes, member, provider)
    yield json_document.batch(member, read_prefixes, ranges, fields, tuple(_OFFERS))


def _cells(uses: Sequence[_PrefixUse], name: str, rows: I64) -> pa.DictionaryArray:
    """Return a column of the uses, in the order of rows."""
    texts = json_document.texts(getattr(use, name) for use in uses)
    return texts.cast(pa.string()).dictionary_encode().take(pa.array(rows))


def _prefix_uses(member: Member, provider: _Provider) -> list[_PrefixUse]:
    return provider.prefixes(member, json_document.document(member))


def _prefixes(member: Member, provider: _Provider) -> list[object]:
    return [use.prefix for use in _prefix_uses(member, provider)]


def _deciding_rows(ranges: ParsedRanges, rank: I64) -> I64:
    """Return, for each row, the last row of the same range with the greatest rank.

    The compiler would let the last of equal ranges decide. All get the fields of the one row, so
    that none is removed and the report counts duplicates.
    """
    ends = ranges.last.low, ranges.last.high, ranges.first.low, ranges.first.high
    keys = [key for key in ends if key is not None] + [ranges.family]
    # Within equal ranges by rank; ``lexsort`` is stable, so the later of equal ranks is last.
    order = np.lexsort((rank, *keys))
    begins = run_starts(*(key[order] for key in keys))
    last = np.append(np.flatnonzero(begins)[1:], len(order)) - 1
    rows = np.empty(len(order), np.int64)
    # Each row of a group gets the last row of the group.
    rows[order] = order[last[np.cumsum(begins) - 1]]
    return rows


def _ranks(uses: Sequence[_PrefixUse]) -> I64:
    """Return 1 for a prefix of a delivery network, 0 for another."""
    return np.array([use.user_type == _DELIVERY for use in uses], np.int64)


def _of_list(rows: pa.RecordBatch) -> tuple[ParsedRanges, dict[str, pa.DictionaryArray]]:
    ranges = from_networks(line_parts(rows, _PATTERN)["network"])
    words = {"organization": "Cloudflare", "user_type": _DELIVERY}
    return ranges, {name: constant(word, len(rows)) for name, word in words.items()}


def _detect(opening: Opening) -> Detection | None:
    provider = _provider(opening.start)
    name = provider.name if provider else _LIST
    return Detection(name, has_own_name=name == _LIST)


#: Of AWS, Google and Oracle; Azure and Cloudflare state none.
_DATE = in_first_lines(
    r'"(?:createDate|creationTime|last_updated_timestamp)" *: *"([0-9]{4}-[0-9]{2}-[0-9]{2})'
)
FORMAT = SourceFormat("cloud", frozenset(), _read, _detect, _DATE, frozenset(_OFFERS))
