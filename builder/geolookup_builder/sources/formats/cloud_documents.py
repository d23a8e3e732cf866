"""The documents of address ranges that cloud providers publish: the prefixes in each.

A prefix is listed once for each service that uses it. Where one of them is a delivery network, that
decides: a service that stands for all services lists the prefix too.

A document is read whole. Such files are small beside tables of ranges; the limits bound the memory
that a hostile one takes: Python's objects take many times the bytes of their text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa

from geolookup.errors import BuildError
from geolookup_builder.sources.reading.inputs import Member
from geolookup_builder.sources.reading.reader import (
    REJECT_CHARACTERS,
    Batch,
    Meaning,
    RecordNumbers,
    Reject,
)
from geolookup_builder.sources.reading.sniffing import begins_object
from geolookup_builder.sources.reading.text import Layout
from geolookup_builder.values import is_text

#: Bytes of a document, and values in it, counted as its commas and opening brackets. As objects
#: the values take at most two gigabytes.
MAX_BYTES = 256 << 20
MAX_VALUES = 16 << 20
_START_BYTES = 1 << 17  # in which keys are looked for
_FETCH_AGAIN = "fetch it again"
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
            _value(entry, key),
            "Amazon Web Services",
            _use(service),
            _value(entry, "region"),
            service,
        )
        for array, key in (("prefixes", "ip_prefix"), ("ipv6_prefixes", "ipv6_prefix"))
        for entry in _entries(member, document, array)
        for service in (_value(entry, "service"),)
    ]


def _of_azure(member: Member, document: dict[str, Any]) -> list[_PrefixUse]:
    tags = [_value(tag, "properties") for tag in _entries(member, document, "values")]
    return [
        _PrefixUse(prefix, "Microsoft Azure", _use(service), _value(tag, "region"), service)
        for tag in tags
        for service in (_value(tag, "systemService"),)
        for prefix in _entries(member, tag, "addressPrefixes")
    ]


def _of_cloudflare(member: Member, document: dict[str, Any]) -> list[_PrefixUse]:
    result = _value(document, "result")
    return [
        _PrefixUse(prefix, "Cloudflare", DELIVERY)
        for array in ("ipv4_cidrs", "ipv6_cidrs")
        for prefix in _entries(member, result, array)
    ]


def _of_google(member: Member, document: dict[str, Any]) -> list[_PrefixUse]:
    """Return the prefixes; customers' prefixes name a service, Google's own services do not."""
    return [use for entry in _entries(member, document, "prefixes") for use in _google_entry(entry)]


def _google_entry(entry: object) -> Iterator[_PrefixUse]:
    """Yield the rows of an entry; one without a prefix is rejected."""
    prefixes = [prefix for key in _GOOGLE_PREFIXES if (prefix := _value(entry, key))]
    service = _value(entry, "service")
    name, user_type = ("Google", None) if service is None else ("Google Cloud", HOSTING)
    for prefix in prefixes or [None]:
        yield _PrefixUse(prefix, name, user_type, _value(entry, "scope"), service)


def _of_oracle(member: Member, document: dict[str, Any]) -> list[_PrefixUse]:
    return [
        _PrefixUse(
            _value(entry, "cidr"), "Oracle Cloud", HOSTING, _value(region, "region"), _tags(entry)
        )
        for region in _entries(member, document, "regions")
        for entry in _entries(member, region, "cidrs")
    ]


def _tags(entry: object) -> str | None:
    tags = _value(entry, "tags")
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
            if _has_keys(member, provider.keys):
                return provider
    return None


def batches(member: Member, layout: Layout, meaning: Meaning) -> Iterator[Batch]:
    """Yield the prefixes of a document."""
    uses = _prefix_uses(member)
    texts = [_texts(column) for column in zip(*uses, strict=True)]
    columns = {
        name: cells if name in layout.texts else cells.cast(pa.string()).dictionary_encode()
        for name, cells in zip(layout.names, texts, strict=False)
    }
    ranges, fields = meaning(pa.RecordBatch.from_pydict(columns))
    numbers = RecordNumbers(member, _find_rejects, layout.unread, layout.offered)
    yield numbers.batch(ranges, fields)


def _find_rejects(member: Member, reasons: dict[int, str]) -> Iterator[Reject]:
    """Yield the prefixes with these numbers (from 1)."""
    uses = _prefix_uses(member) if reasons else []
    for number, reason in sorted(reasons.items()):
        prefix = json.dumps(uses[number - 1].prefix, ensure_ascii=False)[:REJECT_CHARACTERS]
        # A surrogate cannot be written to the file of rejects.
        text = prefix.encode("utf-8", "replace").decode()
        yield Reject(member.label, number, reason, text)


def _prefix_uses(member: Member) -> list[_PrefixUse]:
    """Return the uses, those of delivery networks last: of equal ranges the last row decides."""
    provider = provider_of(member)
    uses = provider.prefixes(member, _document(member)) if provider else []
    return sorted(uses, key=lambda use: use.user_type == DELIVERY)


def _has_keys(member: Member, keys: Iterable[str]) -> bool:
    """Return whether all of these keys are near the beginning of a document."""
    with member.open() as stream:
        start: bytes = stream.read(_START_BYTES)
    return all(f'"{key}"'.encode() in start for key in keys)


def _document(member: Member) -> dict[str, Any]:
    """Read a document; BuildError if it is not a JSON object, or beyond the limits."""
    with member.open() as stream:
        data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        problem = f"a JSON document of more than {MAX_BYTES:,} bytes"
        raise BuildError(member.label, problem, remedy="split it into several files")
    if sum(map(data.count, (b",", b"{", b"["))) > MAX_VALUES:
        problem = f"a JSON document of more than {MAX_VALUES:,} values"
        raise BuildError(member.label, problem, remedy="split it into several files")
    value = _parse(member, data)
    if not isinstance(value, dict):
        raise BuildError(member.label, "not a JSON object", remedy=_FETCH_AGAIN)
    return value


def _parse(member: Member, data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise BuildError(
            member.label, "not UTF-8", line=line, remedy="convert it to UTF-8"
        ) from error
    except json.JSONDecodeError as error:
        problem = f"not JSON ({error.msg})"
        raise BuildError(member.label, problem, line=error.lineno, remedy=_FETCH_AGAIN) from error
    except (ValueError, RecursionError) as error:  # a number of 4,301 digits, or deep nesting
        problem = f"not JSON that can be read ({type(error).__name__})"
        raise BuildError(member.label, problem, remedy=_FETCH_AGAIN) from error


def _entries(member: Member, holder: object, key: str) -> list[Any]:
    """Return the array at ``key`` of an object; BuildError if there is none."""
    array = holder.get(key) if isinstance(holder, Mapping) else None
    if not isinstance(array, list):
        raise BuildError(member.label, f"no array {key!r} in it", remedy=_FETCH_AGAIN)
    return array


def _value(entry: object, key: str) -> Any:
    """Return the value at ``key`` of an entry; None if it is not an object or lacks the key."""
    return entry.get(key) if isinstance(entry, Mapping) else None


def _texts(values: Iterable[object]) -> pa.Array:
    """Return texts and numbers; null for null, and the name of its type for any other value.

    The name is neither an address nor a number, and is counted as such.
    """
    return pa.array([_text(value) for value in values], pa.large_string())


def _text(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, list | dict):
        return type(value).__name__
    text = str(value)
    return text if is_text(text) else text.encode("utf-8", "replace").decode()
