"""``python -m benchmarks floor``: lookups beside what the machine needs for the same bytes."""
