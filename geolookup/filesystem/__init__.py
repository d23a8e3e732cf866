"""Atomic writes, staging directories, leftovers, locks, regular files and limits of archives."""
