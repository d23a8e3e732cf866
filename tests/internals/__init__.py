"""The internal names that tests use, a module for each room: the only way to them."""
