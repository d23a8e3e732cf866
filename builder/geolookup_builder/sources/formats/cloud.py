"""The address ranges that cloud providers publish: AWS, Azure, Cloudflare, Google, Oracle.

A document states which prefixes a provider uses, where and for which service. A prefix is listed
once for each service that uses it. Where one of them is a delivery network, that decides: a service
that stands for all services lists the prefix too.

A document is read whole. Such files are small beside tables of ranges; the limits bound the memory
that a hostile one takes: Python's objects take many times the bytes of their text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from geolookup.errors import BuildError
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats.vendor_values import offers
from geolookup_builder.sources.reading import reader, sniffing
from geolookup_builder.sources.reading.inputs import Member, members
from geolookup_builder.sources.reading.plans import Planner, Reading
from geolookup_builder.sources.reading.products import Header, Product, words

#: Bytes of a document, and values in it, counted as its commas and opening brackets. As objects
#: the values take at most two gigabytes.
MAX_BYTES = 256 << 20
MAX_VALUES = 16 << 20
_START_BYTES = 1 << 17  # in which keys are looked for
_FETCH_AGAIN = "fetch it again"
_HOSTING, _DELIVERY = "hosting", "content_delivery_network"
#: Azure's and Amazon's services that deliver content, as they name them.
_DELIVERING = ("AzureFrontDoor", "CLOUDFRONT", "CLOUDFRONT_ORIGIN_FACING")
_ROW = ("prefix", "organization", "user_type", "region", "service")
#: Keys of an entry; those of a region or service may be of an object above it.
_PREFIXES = (
    *("ip_prefix", "ipv6_prefix", "ipv4Prefix", "ipv6Prefix", "addressPrefixes"),
    *("ipv4_cidrs", "ipv6_cidrs", "cidr"),
)
_REGIONS, _SERVICES = ("region", "scope"), ("service", "systemService", "tags")
#: Provider: its organization, keys near the beginning of a document, and the paths of its arrays.
_PROVIDERS = {
    "AWS": ("Amazon Web Services", "syncToken ip_prefix", "prefixes ipv6_prefixes"),
    "Azure": (
        "Microsoft Azure",
        "changeNumber addressPrefixes",
        "values.properties.addressPrefixes",
    ),
    "Cloudflare": ("Cloudflare", "ipv4_cidrs ipv6_cidrs", "result.ipv4_cidrs result.ipv6_cidrs"),
    "Google": ("Google Cloud", "syncToken ipv4Prefix", "prefixes"),
    "Oracle": ("Oracle Cloud", "regions cidrs", "regions.cidrs"),
}
#: Google's own services are not hosted.
_PRODUCT = Product(
    "document",
    (("prefix",),),
    {
        **offers(
            "organization user_type cloud_provider=organization cloud_region=region "
            "cloud_service=service"
        ),
        "is_hosting": words("user_type", dict.fromkeys((_HOSTING, _DELIVERY), "true")),
    },
)


def _read(spec: SourceSpec) -> Iterator[reader.SourceTable]:
    planner, files = Planner(spec), list[tuple[str, Iterator[reader.Batch]]]()
    for member in members(spec.path, spec.base, (".json",)):
        name = _provider(member)
        if name is None:
            sniffing.check_kind(member, sniffing.TEXT, sniffing.JSON)
            problem = f"not a file of ranges of {', '.join(_PROVIDERS)}"
            remedy = 'name such a file; for a plain list of prefixes use format = "cidr-list"'
            raise BuildError(member.label, problem, remedy=remedy)
        reading = planner.plan(Header(member.label, _ROW), _PRODUCT)
        files.append((name, _batches(member, reading)))
    planner.check()
    yield from planner.tables(files, [name for name, _ in files])


def _provider(member: Member) -> str | None:
    """Return the provider of a document; None for another file."""
    if not sniffing.begins_json(member, b"{"):
        return None
    # The first kilobytes are searched for the keys: a document of gigabytes is not parsed.
    with member.open() as stream:
        start: bytes = stream.read(_START_BYTES)
    words = {name: keys.split() for name, (_, keys, _) in _PROVIDERS.items()}
    fitting = (n for n in words if all(f'"{key}"'.encode() in start for key in words[n]))
    return next(fitting, None)


def _batches(member: Member, reading: Reading) -> Iterator[reader.Batch]:
    """Yield the prefixes of a document."""
    rows, layout = _rows(member), reading.layout
    columns = {name: pa.array([row[name] for row in rows], pa.string()) for name in _ROW}
    columns |= {name: columns[name].dictionary_encode() for name in layout.fields}
    ranges, fields = reading.meaning(pa.RecordBatch.from_pydict(columns))
    numbers = reader.RecordNumbers(member, _find_rejects, layout.unread, layout.offered)
    yield numbers.batch(ranges, fields)


def _find_rejects(member: Member, reasons: dict[int, str]) -> Iterator[reader.Reject]:
    """Yield the prefixes with these numbers (from 1)."""
    rows = _rows(member) if reasons else []
    for number, reason in sorted(reasons.items()):
        prefix = str(rows[number - 1]["prefix"])[: reader.REJECT_CHARACTERS]
        yield reader.Reject(member.label, number, reason, prefix)


def _rows(member: Member) -> list[dict[str, str | None]]:
    """Return the rows, those of delivery networks last: of equal ranges the last row decides."""
    name, document = _provider(member) or "", _document(member)
    organization, _, paths = _PROVIDERS.get(name, ("", "", ""))
    rows = []
    for entry in (e for path in paths.split() for e in _entries(member, document, {}, path)):
        region, service = _first(entry, _REGIONS), _first(entry, _SERVICES)
        use = _DELIVERY if name == "Cloudflare" or service in _DELIVERING else _HOSTING
        # Google's own prefixes have no service, those of its customers do.
        user = (name, "") if name == "Google" and service is None else (organization, use)
        rows += [
            dict(zip(_ROW, (_text(prefix), *user, region, service), strict=True))
            for prefix in [entry[key] for key in _PREFIXES if entry.get(key)] or [None]
        ]
    return sorted(rows, key=lambda row: row["user_type"] == _DELIVERY)


def _first(entry: Mapping[str, Any], keys: Sequence[str]) -> str | None:
    """Return the value of the first key that an entry has; the values of a list with slashes."""
    value = next((entry[key] for key in keys if key in entry), None)
    return "/".join(map(str, value)) if isinstance(value, list) else _text(value)


def _entries(
    member: Member, holder: object, above: Mapping[str, Any], path: str
) -> Iterator[dict[str, Any]]:
    """Yield the entries of the array at a path, each with the values of the objects above it.

    A step of the path is an array of objects, or one object. Raises BuildError for another value.
    """
    step, _, rest = path.partition(".")
    value = holder.get(step) if isinstance(holder, Mapping) else None
    if rest and isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, list):
        raise BuildError(member.label, f"no array {step!r} in it", remedy=_FETCH_AGAIN)
    for item in value:
        entry = {**above, **(item if isinstance(item, Mapping) else {step: item})}
        if rest:
            plain = {key: v for key, v in entry.items() if not isinstance(v, list | dict)}
            yield from _entries(member, item, plain, rest)
        else:
            yield entry


def _document(member: Member) -> dict[str, Any]:
    """Read a document; BuildError if it is not JSON, or beyond the limits."""
    with member.open() as stream:
        data = stream.read(MAX_BYTES + 1)
    values = sum(map(data.count, (b",", b"{", b"[")))
    for count, limit, unit in ((len(data), MAX_BYTES, "bytes"), (values, MAX_VALUES, "values")):
        if count > limit:
            problem = f"a JSON document of more than {limit:,} {unit}"
            raise BuildError(member.label, problem, remedy="split it into several files")
    try:
        document: dict[str, Any] = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        # Also not UTF-8, a number of 4,301 digits, or deep nesting.
        line, reason = getattr(error, "lineno", None), getattr(error, "msg", type(error).__name__)
        problem = f"not JSON that can be read ({reason})"
        raise BuildError(member.label, problem, line=line, remedy=_FETCH_AGAIN) from error
    return document


def _text(value: object) -> str | None:
    """Return a text or number; null for null, and the name of its type for any other value.

    The name is neither an address nor a number, and is counted as such.
    """
    if value is None:
        return None
    text = type(value).__name__ if isinstance(value, list | dict) else str(value)
    # Neither Arrow nor the file of rejects can hold surrogates.
    return text.encode("utf-8", "replace").decode()


def _detect(opening: sniffing.Opening) -> sniffing.Detection | None:
    name = _provider(opening.start)
    return sniffing.Detection(name) if name else None


FORMAT = reader.SourceFormat(
    "cloud",
    frozenset(),
    _read,
    _detect,
    # Of AWS, Google and Oracle; Azure and Cloudflare state none.
    reader.in_first_lines(
        r'"(?:createDate|creationTime|last_updated_timestamp)" *: *"([0-9]{4}-[0-9]{2}-[0-9]{2})'
    ),
    (_PRODUCT,),
)
