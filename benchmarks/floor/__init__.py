"""``python -m benchmarks floor``: our lookups beside what the machine needs for the same bytes."""
