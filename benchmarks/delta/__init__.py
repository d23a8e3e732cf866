"""Deltas: bytes, time and memory to ship a release that changes one row in a hundred."""
