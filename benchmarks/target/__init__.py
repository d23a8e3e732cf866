"""``python -m benchmarks target``: the goal of 100 ms a lookup."""
