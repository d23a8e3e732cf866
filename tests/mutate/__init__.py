"""Mutation testing: change one place of the product, and see whether its tests notice.

``python -m tests.mutate [MODULE ...]``; ``--help`` has the options, ``scope.toml`` the modules, the
tests that judge each and the number of mutants, ``survivors.toml`` the mutants that may survive.

The operators come from cosmic-ray: each is a class that lists its positions in a parso tree and
changes one of them, with lines and columns, without running anything. mutmut has no such interface:
it rewrites whole modules with every mutant in them; that changes their import time and their
tracebacks. The runner is our own because neither has these: a seeded sample spread over the
functions, separate tests for each module, a copy of the tree per worker, mutants of the Cython
sources, and a list of survivors that does not depend on line numbers.
"""
