"""``python -m benchmarks http``: the service under load."""
