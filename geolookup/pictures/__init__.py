"""Arrays drawn: curves, projections, colours, charts. Pages and files of pictures use these."""
