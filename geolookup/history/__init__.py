"""The generations of a store over time: listed, rolled back, kept as deltas, pruned, compared."""
