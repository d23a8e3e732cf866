"""Tests of ``geolookup.compiled``."""
