"""Stand-ins for the readers of other libraries, so that a script moves by one import line."""
