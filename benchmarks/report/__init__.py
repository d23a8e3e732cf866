"""``python -m benchmarks report``: the pages that show a dataset or a file of addresses."""
