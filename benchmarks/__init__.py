"""Benchmarks of geolookup: ``python -m benchmarks NAME``. They measure and never assert."""
