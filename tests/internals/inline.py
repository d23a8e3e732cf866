"""Internal names of `geolookup/inline` that tests use."""

from geolookup.inline import Part, parts
from geolookup.inline.annotate import Tags, annotate_blocks
from geolookup.inline.grep import LineFilter
