"""The content of records, by ``--schema``: paths in a record, and their fields of the dataset.

The records that geoip2 reads have the structure of ``geolookup.compat``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from geolookup.compat import CONNECTION_TYPES, KINDS, fitting
from geolookup.contract.fields import OWN, STORED, Field
from geolookup.contract.paths import resolve_fields
from geolookup.contract.schema import Schema as DatasetSchema
from geolookup.errors import ExportError
from geolookup.export.formats import FLAT
from geolookup.export.ranges import DEFAULT, export_errors, fields_of

#: ``database_type`` by schema. Readers choose their model by it, some by the whole text.
_TYPES = {
    "city": "GeoIP2-City",
    "country": "GeoIP2-Country",
    "asn": "GeoLite2-ASN",
    "isp": "GeoIP2-ISP",
    "enterprise": "GeoIP2-Enterprise",
    FLAT: "geolookup-flat",
}
#: The keys of flat records that are not the column of the field.
_KEYS = {"time.zone": "time_zone"}


@dataclass(frozen=True, slots=True)
class Schema:
    """The records of a file: ``paths`` has each field by its path, in the order of the members.

    ``only_true``: a Boolean that is false is left out. ``words`` replace values of the dataset, by
    path of the field.
    """

    database_type: str
    paths: Mapping[str, Field]
    only_true: bool = False
    words: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)


def schema_of(name: str, known_fields: Collection[str], paths: Sequence[str]) -> Schema:
    """Return a schema, limited to ``paths`` of the answer if there are any.

    ``known_fields`` are the fields of the dataset. Raises ExportError for paths that the schema
    does not have, and for a schema without a field of the dataset.
    """
    for path in paths:
        if path == OWN or path.startswith(f"{OWN}."):
            raise ExportError(f"the schema {name} has no {path}", "name it by the option columns")
    fields = fields_of(paths)
    whole = _flat(fields) if name == FLAT else _of_geoip2(name, known_fields)
    members = {path: field for path, field in whole.items() if not paths or field in fields}
    for path in paths:
        if not set(fields_of((path,))) & set(members.values()):
            names = ", ".join(dict.fromkeys(field.path for field in whole.values()))
            raise ExportError(f"the schema {name} has no {path}", f"it has {names}")
    if name == FLAT:
        return Schema(_TYPES[name], members)
    words = {"network.connection_type": CONNECTION_TYPES}
    return Schema(_TYPES[name], members, only_true=True, words=words)


def with_own(schema: Schema, columns: Sequence[str], of_dataset: DatasetSchema) -> Schema:
    """Return a schema with own columns after its members: ``own.site_id``, ``KEY=own.site_id``.

    The key is by default the name of the column; a key with dots is a path. Raises ExportError for
    an unknown column, and for a key that two members would have.
    """
    paths = dict(schema.paths)
    for text in columns:
        key, has_key, name = text.rpartition("=")
        fields = _own_fields(name, of_dataset)
        if has_key and len(fields) > 1:
            raise ExportError(f"{text!r} is several columns of one key", "write each with its key")
        for field in fields:
            path = key.strip() if has_key else field.member
            _check_key(path, paths, schema)
            paths[path] = field
    return replace(schema, paths=paths)


def _own_fields(name: str, of_dataset: DatasetSchema) -> tuple[Field, ...]:
    name = name.strip()
    path = name if name == OWN or name.startswith(f"{OWN}.") else f"{OWN}.{name}"
    with export_errors():
        return resolve_fields(path, of_dataset.own, "columns")


def _check_key(path: str, paths: Mapping[str, Field], schema: Schema) -> None:
    """Raise ExportError for a path that members of the contract have, or another own column."""
    first, *_ = parts = path.split(".")
    if not all(part and not part.isdigit() for part in parts):
        raise ExportError(f"{path!r} cannot be a key", "write names, such as site or customer.site")
    if any(first == other.partition(".")[0] for other in schema.paths):
        raise ExportError(f"{first!r} is a member of the schema", "choose another first key")
    for other in paths:
        if f"{path}.".startswith(f"{other}.") or f"{other}.".startswith(f"{path}."):
            raise ExportError(f"two own columns have the key {path!r}", "choose another key")


def _flat(fields: Sequence[Field]) -> dict[str, Field]:
    """Return the fields of sources and any other field of the export, by their names in sources."""
    written = {*DEFAULT, *fields}
    return {_KEYS.get(field.path, field.column): field for field in STORED if field in written}


def _of_geoip2(name: str, known_fields: Collection[str]) -> dict[str, Field]:
    methods = fitting(known_fields)
    if name not in methods:
        fit = [schema for schema in _TYPES if schema in methods or schema == FLAT]
        raise ExportError(f"the dataset has no field of {name}", f"write {', '.join(fit)}")
    by_path = {field.path: field for field in STORED}
    return {path: by_path[field] for path, field in KINDS[name].paths.items()}
