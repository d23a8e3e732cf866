"""Own columns, overlays and slices: whole processes, and lookups beside a dataset without them."""
