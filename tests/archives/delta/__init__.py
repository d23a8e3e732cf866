"""Patches of files: columns, alignments and hostile input."""
