"""Atomic writes, staging directories and locks."""
