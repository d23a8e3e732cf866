"""``python -m benchmarks cluster``: tables on Spark and Dask, by the number of workers."""
