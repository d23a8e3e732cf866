"""Answers for many addresses that are all kept: their memory and time."""
