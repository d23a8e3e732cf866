"""Attacks on a real service, compiler or store, longer than the tests: ``python -m tests.attack``.

Each module here is one attack with the function ``attack() -> None``. It starts its own target, on
the loopback interface and in a temporary folder, prints its measurements, and raises AssertionError
where a promise of the documentation does not hold.
"""
