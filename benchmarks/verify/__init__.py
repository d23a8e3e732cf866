"""``python -m benchmarks verify``: what it takes to verify a dataset."""
