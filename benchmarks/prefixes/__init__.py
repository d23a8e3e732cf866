"""``python -m benchmarks prefixes``: what lists of prefixes by answer take."""
