"""Whole columns of addresses, on Arrow: the only vectorised path there is.

``locate`` turns addresses into interval ids, ``take`` interval ids into columns
of the answer, and ``enrich`` does both for a table of any kind. ``pandas``,
``polars``, ``duckdb`` and ``spark`` are thin adapters on top, each with an
extra of its name.
"""

from geolookup.tables.dispatch import enrich
from geolookup.tables.locate import locate
from geolookup.tables.take import take

__all__ = ["enrich", "locate", "take"]
