"""``python -m benchmarks fleet``: edges that follow one mirror behind a slow, lossy link."""
