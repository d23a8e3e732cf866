"""Internal names of `geolookup/parallel` that tests use."""

from geolookup import parallel
from geolookup.parallel import alongside, in_order
