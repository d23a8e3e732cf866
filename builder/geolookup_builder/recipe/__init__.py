"""Recipes: read, checked and completed."""
