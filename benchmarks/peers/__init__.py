"""``python -m benchmarks peers``: single addresses and lists of them, beside other libraries."""
