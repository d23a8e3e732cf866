"""The address ranges that cloud providers publish: AWS, Azure, Cloudflare, Google, Oracle.

A file states which prefixes a provider uses, and for which service. Regions and services have no
field and are ignored; the build report says so. A prefix is listed once for each service that uses
it. Where one of them is a delivery network, that decides: a service that stands for all services
lists the prefix too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from geolookup.dataset.intervals import I64
from geolookup.errors import BuildError
from geolookup.filesystem.unpacking import packing
from geolookup_builder.ranges import ParsedRanges, from_networks
from geolookup_builder.recipe import SourceSpec
from geolookup_builder.sources.reading import delimited, json_document, sniffing
from geolookup_builder.sources.reading.dictionary_columns import constant
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.json_document import entries, value
from geolookup_builder.sources.reading.reader import Batch, SourceFormat, SourceTable
from geolookup_builder.sources.reading.routes import deciding_rows
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


@dataclass(frozen=True, slots=True)
class _Provider:
    """A provider: keys near the beginning of its document, its prefixes, keys that are ignored."""

    name: str
    keys: tuple[str, ...]
    prefixes: Callable[[Member, dict[str, Any]], list[_PrefixUse]]
    ignored: str


def _of_aws(member: Member, document: dict[str, Any]) -> list[_PrefixUse]:
    return [
        _PrefixUse(value(entry, key), "Amazon Web Services", _use(value(entry, "service")))
        for array, key in (("prefixes", "ip_prefix"), ("ipv6_prefixes", "ipv6_prefix"))
        for entry in entries(member, document, array)
    ]


def _of_azure(member: Member, document: dict[str, Any]) -> list[_PrefixUse]:
    tags = [value(tag, "properties") for tag in entries(member, document, "values")]
    return [
        _PrefixUse(prefix, "Microsoft Azure", _use(value(tag, "systemService")))
        for tag in tags
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
    of_customers = value(entry, "service") is not None
    name = "Google Cloud" if of_customers else "Google"
    for prefix in prefixes or [None]:
        yield _PrefixUse(prefix, name, _HOSTING if of_customers else None)


def _of_oracle(member: Member, document: dict[str, Any]) -> list[_PrefixUse]:
    return [
        _PrefixUse(value(entry, "cidr"), "Oracle Cloud", _HOSTING)
        for region in entries(member, document, "regions")
        for entry in entries(member, region, "cidrs")
    ]


def _use(service: object) -> str:
    return _DELIVERY if service in _DELIVERING else _HOSTING


_PROVIDERS = (
    _Provider("AWS", ("syncToken", "ip_prefix"), _of_aws, "region, service"),
    _Provider("Azure", ("changeNumber", "addressPrefixes"), _of_azure, "region, service"),
    _Provider("Cloudflare", ("ipv4_cidrs", "ipv6_cidrs"), _of_cloudflare, ""),
    _Provider("Google", ("syncToken", "ipv4Prefix"), _of_google, "scope"),
    _Provider("Oracle", ("regions", "cidrs"), _of_oracle, "region, tags"),
)
_SUFFIXES = (".json", ".txt", "ips-v4", "ips-v6")
#: Cloudflare's lists: only their names tell them from lists of others.
_LIST = "Cloudflare's list"
_LIST_NAME = re.compile(r"(cloudflare[-_.])?ips-v[46](\.txt)?")
_LAYOUT = line_layout("[ \t]*#")
_PATTERN = r"^\s*(?P<network>\S+)\s*$"
_ROW = re.compile(rf"\s*{sniffing.NETWORK.pattern}\s*")


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    files = [_identify(member) for member in members(spec.path, spec.base, _SUFFIXES)]
    names = dict.fromkeys(name for name, _ in files)
    ignored = dict.fromkeys(p.ignored for p in _PROVIDERS if p.name in names and p.ignored)
    notes = [f"{keys} ignored: no field holds them" for keys in ignored]
    yield from tables(spec, [*names], files, lambda batches: batches(), notes)


def _identify(member: Member) -> tuple[str, Callable[[], Iterator[Batch]]]:
    """Return the provider of a file and what reads it; BuildError if it is of none."""
    provider = _provider(member)
    if provider is not None:
        return provider.name, partial(_of_document, member, provider)
    if not _is_list(member):
        check_text(member)
        problem = "not a file of ranges of " + ", ".join(p.name for p in _PROVIDERS)
        remedy = 'name such a file; for a plain list of prefixes use format = "cidr-list"'
        raise BuildError(member.label, problem, remedy=remedy)
    return _LIST, lambda: delimited.batches(member, _LAYOUT, _of_list)


def _provider(member: Member) -> _Provider | None:
    if not begins_object(member):
        return None
    # The first kilobytes are searched for the keys: a document of gigabytes is not parsed.
    return next(
        (provider for provider in _PROVIDERS if json_document.has_keys(member, provider.keys)), None
    )


def _is_list(member: Member) -> bool:
    has_list_name = any(_LIST_NAME.fullmatch(_plain_name(name)) for name in member.file_names)
    return has_list_name and lines_match(sniffing.opening(member).start, _LAYOUT, _ROW)


def _plain_name(name: str) -> str:
    return name.lower().removesuffix(packing(PurePath(name)))


def _of_document(member: Member, provider: _Provider) -> Iterator[Batch]:
    uses = _prefix_uses(member, provider)
    ranges = from_networks(json_document.texts(use.prefix for use in uses))
    # A prefix of AMAZON and of CLOUDFRONT: both rows get the fields of the second.
    rows = deciding_rows(ranges, _ranks(uses))
    fields = {
        name: pa.array([getattr(use, name) for use in uses], pa.string())
        .dictionary_encode()
        .take(pa.array(rows))
        for name in ("organization", "user_type")
    }
    yield json_document.batch(member, partial(_prefixes, member, provider), ranges, fields)


def _prefix_uses(member: Member, provider: _Provider) -> list[_PrefixUse]:
    return provider.prefixes(member, json_document.document(member))


def _prefixes(member: Member, provider: _Provider) -> list[object]:
    return [use.prefix for use in _prefix_uses(member, provider)]


def _ranks(uses: Sequence[_PrefixUse]) -> I64:
    """Return 1 for a prefix of a delivery network, 0 for another."""
    return np.array([use.user_type == _DELIVERY for use in uses], np.int64)


def _of_list(rows: pa.RecordBatch) -> tuple[ParsedRanges, dict[str, pa.DictionaryArray]]:
    ranges = from_networks(line_parts(rows, _PATTERN)["network"])
    words = {"organization": "Cloudflare", "user_type": _DELIVERY}
    return ranges, {name: constant(word, len(rows)) for name, word in words.items()}


def _detect(opening: Opening) -> Detection | None:
    name, _ = _identify(opening.start)
    return Detection(name, has_own_name=name == _LIST)


#: Of AWS, Google and Oracle; Azure and Cloudflare state none.
_DATE = in_first_lines(
    r'"(?:createDate|creationTime|last_updated_timestamp)" *: *"([0-9]{4}-[0-9]{2}-[0-9]{2})'
)
FORMAT = SourceFormat("cloud", frozenset(), _read, _detect, _DATE)
