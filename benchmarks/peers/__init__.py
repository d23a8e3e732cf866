"""``python -m benchmarks peers``: single lookups beside other libraries."""
