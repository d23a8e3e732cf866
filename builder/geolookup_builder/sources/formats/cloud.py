"""The address ranges that cloud providers publish: AWS, Azure, Cloudflare, Google, Oracle.

A file states which prefixes a provider uses, and for which service. Regions and services are not
fields of the contract; own columns can hold them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import PurePath

from geolookup.errors import BuildError
from geolookup.filesystem.unpacking import packing
from geolookup_builder.recipe.document import SourceSpec
from geolookup_builder.sources.formats import cloud_documents
from geolookup_builder.sources.formats.cloud_documents import (
    DELIVERY,
    HOSTING,
    PROVIDERS,
    Provider,
    provider_of,
)
from geolookup_builder.sources.formats.lines import plan_lines
from geolookup_builder.sources.reading import delimited, sniffing
from geolookup_builder.sources.reading.inputs import Member, members
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
from geolookup_builder.sources.reading.reader import SourceFormat, SourceTable
from geolookup_builder.sources.reading.sniffing import Detection, Opening, check_text, lines_match
from geolookup_builder.sources.reading.stated_dates import in_first_lines
from geolookup_builder.sources.reading.text import line_layout

#: Google's own services are not hosted.
_DOCUMENT = Product(
    "document",
    (("prefix",),),
    {
        "organization": stated("organization"),
        "user_type": stated("user_type"),
        "is_hosting": words("user_type", dict.fromkeys((HOSTING, DELIVERY), "true")),
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
        "user_type": Offer(constant=DELIVERY),
        "is_hosting": ALWAYS,
        "cloud_provider": Offer(constant="Cloudflare"),
    },
)
_LAYOUT = line_layout("[ \t]*#")
_PLAN = partial(
    plan_lines, product=_LIST_OF_CLOUDFLARE, pattern=r"^\s*(?P<network>\S+)\s*$", lines=_LAYOUT
)
_SUFFIXES = (".json", ".txt", "ips-v4", "ips-v6")
#: Cloudflare's lists: only their names tell them from lists of others.
_LIST = "Cloudflare's list"
_LIST_NAME = re.compile(r"(cloudflare[-_.])?ips-v[46](\.txt)?")
_ROW = re.compile(rf"\s*{sniffing.NETWORK.pattern}\s*")


def _read(spec: SourceSpec) -> Iterator[SourceTable]:
    planner, files = Planner(spec), list[tuple[str, PlannedFile]]()
    for member in members(spec.path, spec.base, _SUFFIXES):
        provider = _provider(member)
        if provider is None:
            files.append((_LIST, (delimited, member, _PLAN(planner, member.label))))
        else:
            names = ("prefix", "organization", "user_type", *provider.columns)
            reading = planner.plan(Header(member.label, names), _DOCUMENT)
            files.append((provider.name, (cloud_documents, member, reading)))
    planner.check()
    yield from tables(spec, [name for name, _ in files], files)


def _provider(member: Member) -> Provider | None:
    """Return the provider of a document, None for a list; BuildError if a file is neither."""
    provider = provider_of(member)
    if provider is None and not _is_list(member):
        check_text(member)
        problem = "not a file of ranges of " + ", ".join(p.name for p in PROVIDERS)
        remedy = 'name such a file; for a plain list of prefixes use format = "cidr-list"'
        raise BuildError(member.label, problem, remedy=remedy)
    return provider


def _is_list(member: Member) -> bool:
    has_list_name = any(_LIST_NAME.fullmatch(_plain_name(name)) for name in member.file_names)
    return has_list_name and lines_match(sniffing.opening(member).start, _LAYOUT, _ROW)


def _plain_name(name: str) -> str:
    return name.lower().removesuffix(packing(PurePath(name)))


def _detect(opening: Opening) -> Detection | None:
    provider = _provider(opening.start)
    name = provider.name if provider else _LIST
    return Detection(name, has_own_name=name == _LIST)


#: Of AWS, Google and Oracle; Azure and Cloudflare state none.
_DATE = in_first_lines(
    r'"(?:createDate|creationTime|last_updated_timestamp)" *: *"([0-9]{4}-[0-9]{2}-[0-9]{2})'
)
FORMAT = SourceFormat("cloud", frozenset(), _read, _detect, _DATE, offered_columns([_DOCUMENT]))
