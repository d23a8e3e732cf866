"""``python -m benchmarks build``: the compiler, and what reads and writes whole datasets."""
