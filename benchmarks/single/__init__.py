"""``python -m benchmarks single``: only our lookups."""
