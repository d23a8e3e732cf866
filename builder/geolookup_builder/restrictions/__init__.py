"""Parts of a source: ``only``, ``families`` and ``within``, and slices of a dataset."""
