"""What the benchmarks share: addresses, processes that take turns, tables, published output."""
