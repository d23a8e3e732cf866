"""Mirrors: a static folder of archives, and stores that follow it."""
