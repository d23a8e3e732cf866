"""Signatures: who made a dataset, and which keys a store or an engine trusts."""
