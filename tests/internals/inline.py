"""Internal names of `geolookup/inline` that tests use."""

from geolookup.inline import Part, Rows, Scanner, blocks
from geolookup.inline.annotate import Tags, Template, annotate_blocks
from geolookup.inline.grep import LineFilter, Lines
