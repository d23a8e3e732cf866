"""The vendor formats, one module each."""
