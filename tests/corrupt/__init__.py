"""Damaged datasets: ``verify`` finds the damage, and lookups on it stay within the contract."""
