"""Tests of ``geolookup.overlays``."""
