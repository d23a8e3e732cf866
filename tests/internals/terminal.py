"""Internal names of `geolookup/terminal` that tests use."""

from geolookup.terminal import filter_terminals, own_sequence
