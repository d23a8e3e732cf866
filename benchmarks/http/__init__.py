"""``python -m benchmarks http``: the service under load, and its gate."""
