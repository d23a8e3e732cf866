"""geolookup."""
