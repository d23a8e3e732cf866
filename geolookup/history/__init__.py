"""The generations of a store over time: published, listed, rolled back, pruned, compared."""
