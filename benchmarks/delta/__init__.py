"""Deltas: bytes, time and memory to ship a release of which one row in a hundred changed."""
