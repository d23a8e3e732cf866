"""``python -m benchmarks tables``: whole tables and files, beside other ways to enrich one."""
