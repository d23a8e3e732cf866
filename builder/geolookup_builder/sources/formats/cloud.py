"""The address ranges that cloud providers publish: AWS, Azure, Cloudflare, Google, Oracle.

A file states which prefixes a provider uses, and for which service. Regions and services are not
fields of the contract; own columns can hold them. A prefix is listed once for each service that
uses it. Where one of them is a delivery network, that decides: a service that stands for all
services lists the prefix too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import PurePath
from typing import Any, NamedTuple

import pyarrow as pa

from geolookup.errors import BuildError
from geolookup.filesystem.unpacking import packing
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.lines import plan_lines
from geolookup_builder.sources.reading import delimited, json_document, sniffing
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.json_document import entries, value
from geolookup_builder.sources.reading.plans import Planner
from geolookup_builder.sources.reading.product_files import PlannedFile, offered_columns, tables
from geolookup_builder.sources.reading.products import (
    ALWAYS,
    Header,
    Offer,
    Product,
    stated,
    words,
)
from geolookup_builder.sources.reading.reader import Batch, Meaning, SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import (
    Detection,
    Opening,
    begins_object,
    check_text,
    lines_match,
)
from geolookup_builder.sources.reading.stated_dates import in_first_lines
from geolookup_builder.sources.reading.text import Layout, line_layout

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
    """A provider: keys near the beginning of its document, its prefixes, and their further keys."""

    name: str
    keys: tuple[str, ...]
    prefixes: Callable[[Member, dict[str, Any]], list[_PrefixUse]]
    columns: tuple[str, ...]  # for region and service


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


_PROVIDERS = (
    _Provider("AWS", ("syncToken", "ip_prefix"), _of_aws, ("region", "service")),
    _Provider("Azure", ("changeNumber", "addressPrefixes"), _of_azure, ("region", "service")),
    _Provider("Cloudflare", ("ipv4_cidrs", "ipv6_cidrs"), _of_cloudflare, ()),
    _Provider("Google", ("syncToken", "ipv4Prefix"), _of_google, ("scope", "service")),
    _Provider("Oracle", ("regions", "cidrs"), _of_oracle, ("region", "tags")),
)
#: Google's own services are not hosted.
_DOCUMENT = Product(
    "document",
    (("prefix",),),
    {
        "organization": stated("organization"),
        "user_type": stated("user_type"),
        "is_hosting": words("user_type", dict.fromkeys((_HOSTING, _DELIVERY), "true")),
        "cloud_provider": stated("organization"),
        "cloud_region": stated("region", "scope"),
        "cloud_service": stated("service", "tags"),
    },
)
_LIST_OF_CLOUDFLARE = Product(
    "list",
    (("network",),),
    {
        "organization": Offer(constant="Cloudflare"),
        "user_type": Offer(constant=_DELIVERY),
        "is_hosting": ALWAYS,
        "cloud_provider": Offer(constant="Cloudflare"),
    },
)
_SUFFIXES = (".json", ".txt", "ips-v4", "ips-v6")
#: Cloudflare's lists: only their names tell them from lists of others.
_LIST = "Cloudflare's list"
_LIST_NAME = re.compile(r"(cloudflare[-_.])?ips-v[46](\.txt)?")
_LAYOUT = line_layout("[ \t]*#")
_PATTERN = r"^\s*(?P<network>\S+)\s*$"
_ROW = re.compile(rf"\s*{sniffing.NETWORK.pattern}\s*")


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    planner, files = Planner(spec), list[tuple[str, PlannedFile]]()
    for member in members(spec.path, spec.base, _SUFFIXES):
        provider = _provider(member)
        if provider is None:
            plan = plan_lines(planner, member.label, _LIST_OF_CLOUDFLARE, _PATTERN, _LAYOUT)
            files.append((_LIST, (delimited.batches, member, plan)))
        else:
            names = ("prefix", "organization", "user_type", *provider.columns)
            reading = planner.plan(Header(member.label, names), _DOCUMENT)
            files.append((provider.name, (partial(_batches, provider=provider), member, reading)))
    planner.check()
    yield from tables(spec, [name for name, _ in files], files)


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


def _batches(
    member: Member, layout: Layout, meaning: Meaning, provider: _Provider
) -> Iterator[Batch]:
    uses = _prefix_uses(member, provider)
    texts = [json_document.texts(column) for column in zip(*uses, strict=True)]
    columns = {
        name: cells if name in layout.texts else cells.cast(pa.string()).dictionary_encode()
        for name, cells in zip(layout.names, texts, strict=False)
    }
    read_prefixes = partial(_prefixes, member, provider)
    ranges, fields = meaning(pa.RecordBatch.from_pydict(columns))
    yield json_document.batch(member, layout, read_prefixes, ranges, fields)


def _prefix_uses(member: Member, provider: _Provider) -> list[_PrefixUse]:
    """Return the uses, those of delivery networks last: of equal ranges the last row decides."""
    uses = provider.prefixes(member, json_document.document(member))
    return sorted(uses, key=lambda use: use.user_type == _DELIVERY)


def _prefixes(member: Member, provider: _Provider) -> list[object]:
    return [use.prefix for use in _prefix_uses(member, provider)]


def _detect(opening: Opening) -> Detection | None:
    provider = _provider(opening.start)
    name = provider.name if provider else _LIST
    return Detection(name, has_own_name=name == _LIST)


#: Of AWS, Google and Oracle; Azure and Cloudflare state none.
_DATE = in_first_lines(
    r'"(?:createDate|creationTime|last_updated_timestamp)" *: *"([0-9]{4}-[0-9]{2}-[0-9]{2})'
)
FORMAT = SourceFormat("cloud", frozenset(), _read, _detect, _DATE, offered_columns([_DOCUMENT]))
