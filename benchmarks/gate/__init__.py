"""``python -m benchmarks gate``: what a decision of the gate costs a worker."""
