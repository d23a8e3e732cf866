"""A section of a page: its template and the values that it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from geolookup.pictures.files import Picture


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a page under a heading of its own.

    ``template`` is a file of ``templates/``; it gets ``values`` by name. ``data`` is JSON for
    scripts, by the id of the element that holds it. ``scripts`` are files of ``assets/`` in the
    order in which they need each other, ``styles`` likewise. A page has each of these once.
    ``pictures`` are what ``--png`` writes of the section; an iterator draws them only then.
    """

    anchor: str
    title: str
    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    data: Mapping[str, object] = field(default_factory=dict)
    scripts: Sequence[str] = ()
    styles: Sequence[str] = ()
    pictures: Iterable[Picture] = ()
