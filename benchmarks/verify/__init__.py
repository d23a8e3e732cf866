"""``python -m benchmarks verify``: the cost of verifying a dataset."""
