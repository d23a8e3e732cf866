"""Exports: a dataset as a file of another tool, beside the public writers of that format."""
