"""Tests of ``geolookup.engine.compiled``."""
