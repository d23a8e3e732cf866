"""The report of a dataset: a module for each section, and what they are made of."""
