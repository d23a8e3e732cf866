"""Who is measured: geolookup, and other readers of the same data, each with its best call."""
