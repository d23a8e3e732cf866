"""A year of weekly generations: the size of the history, and the time to answer from it."""
