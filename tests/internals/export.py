"""Internal names of `geolookup/export` that tests use."""

from geolookup.export.mmdb.encoding import encode, header, pointers
from geolookup.export.mmdb.schemas import Schema, schema_of
from geolookup.export.mmdb.tree import Tree
from geolookup.export.ranges import DEFAULT, fields_of
