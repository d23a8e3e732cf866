"""The format ``mmdb``: a database for the readers of MaxMind's format."""
