"""``python -m benchmarks single``: our lookups alone."""
