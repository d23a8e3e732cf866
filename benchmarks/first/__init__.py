"""``python -m benchmarks first``: the first pass of a new process over a list."""
