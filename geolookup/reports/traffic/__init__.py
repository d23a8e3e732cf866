"""The page of ``geolookup map``: where the requests of a file come from, when, and whose."""
