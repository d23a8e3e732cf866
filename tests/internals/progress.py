"""Internal names of `geolookup/progress` that tests use."""

from geolookup.progress import Progress
