"""The documents of address ranges that cloud providers publish: the prefixes in each.

A prefix is listed once for each service that uses it. Where one of them is a delivery network, that
decides: a service that stands for all services lists the prefix too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa

from geolookup_builder.sources.reading import json_document
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.json_document import entries, value
from geolookup_builder.sources.reading.reader import Batch, Meaning
from geolookup_builder.sources.reading.sniffing import begins_object
from geolookup_builder.sources.reading.text import Layout

HOSTING, DELIVERY = "hosting", "content_delivery_network"
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
class Provider:
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
        _PrefixUse(prefix, "Cloudflare", DELIVERY)
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
    name, user_type = ("Google", None) if service is None else ("Google Cloud", HOSTING)
    for prefix in prefixes or [None]:
        yield _PrefixUse(prefix, name, user_type, value(entry, "scope"), service)


def _of_oracle(member: Member, document: dict[str, Any]) -> list[_PrefixUse]:
    return [
        _PrefixUse(
            value(entry, "cidr"), "Oracle Cloud", HOSTING, value(region, "region"), _tags(entry)
        )
        for region in entries(member, document, "regions")
        for entry in entries(member, region, "cidrs")
    ]


def _tags(entry: object) -> str | None:
    tags = value(entry, "tags")
    return "/".join(map(str, tags)) if isinstance(tags, list) else None


def _use(service: object) -> str:
    return DELIVERY if service in _DELIVERING else HOSTING


PROVIDERS = (
    Provider("AWS", ("syncToken", "ip_prefix"), _of_aws, ("region", "service")),
    Provider("Azure", ("changeNumber", "addressPrefixes"), _of_azure, ("region", "service")),
    Provider("Cloudflare", ("ipv4_cidrs", "ipv6_cidrs"), _of_cloudflare, ()),
    Provider("Google", ("syncToken", "ipv4Prefix"), _of_google, ("scope", "service")),
    Provider("Oracle", ("regions", "cidrs"), _of_oracle, ("region", "tags")),
)


def provider_of(member: Member) -> Provider | None:
    """Return the provider of a document; None for another file."""
    if begins_object(member):
        # The first kilobytes are searched for the keys: a document of gigabytes is not parsed.
        for provider in PROVIDERS:
            if json_document.has_keys(member, provider.keys):
                return provider
    return None


def batches(member: Member, layout: Layout, meaning: Meaning) -> Iterator[Batch]:
    """Yield the prefixes of a document."""
    uses = _prefix_uses(member)
    texts = [json_document.texts(column) for column in zip(*uses, strict=True)]
    columns = {
        name: cells if name in layout.texts else cells.cast(pa.string()).dictionary_encode()
        for name, cells in zip(layout.names, texts, strict=False)
    }
    ranges, fields = meaning(pa.RecordBatch.from_pydict(columns))
    yield json_document.batch(member, layout, partial(_prefixes, member), ranges, fields)


def _prefix_uses(member: Member) -> list[_PrefixUse]:
    """Return the uses, those of delivery networks last: of equal ranges the last row decides."""
    provider = provider_of(member)
    uses = provider.prefixes(member, json_document.document(member)) if provider else []
    return sorted(uses, key=lambda use: use.user_type == DELIVERY)


def _prefixes(member: Member) -> list[object]:
    return [use.prefix for use in _prefix_uses(member)]
