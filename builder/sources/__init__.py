"""The readers, one module a format, registered by name.

A format is added by writing a module with a ``Format`` and naming it here.
"""

from __future__ import annotations

from builder.sources import generic
from builder.sources.reader import Format

FORMATS: dict[str, Format] = {each.name: each for each in (generic.FORMAT,)}
