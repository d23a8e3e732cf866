"""``python -m benchmarks build``: the compiler."""
