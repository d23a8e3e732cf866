"""A dataset on disk and open: layout, manifest, mapped files, intervals, provenance."""
