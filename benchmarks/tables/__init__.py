"""``python -m benchmarks tables``: whole tables beside other ways to enrich one."""
