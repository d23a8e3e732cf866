"""Internal names of `geolookup/prefixes` that tests use."""

from geolookup.prefixes import lists as lists_module
from geolookup.prefixes.aggregate import cidr_texts, prefixes_of, range_texts
from geolookup.prefixes.condition_values import absent_values
from geolookup.prefixes.conditions import conditions_of
from geolookup.prefixes.list_text import NAMES, Lists, checked_names
from geolookup.prefixes.lists import lists, read_list
from geolookup.prefixes.select import RowMasks, meeting
from geolookup.prefixes.spans import Spans, join
from geolookup.prefixes.syntaxes import SYNTAXES
