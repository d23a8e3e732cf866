"""Interpreters of one process (PEP 734): one has the compiled kernel, others the Python kernel."""

from __future__ import annotations

import pytest

from tests.cli.program import python
from tests.kernel.modules import needs_compiled

#: Prints kernel and answer in the first interpreter, in a second one and again in the first.
_TWO = """
import os, sys, geolookup

try:
    import _interpreters
    run = _interpreters.exec
except ImportError:  # before CPython 3.13
    import _xxsubinterpreters as _interpreters
    run = _interpreters.run_string

code = "import geolookup; print(geolookup.Engine.kernel, geolookup.lookup_json('8.8.8.8', at=0))"
exec(code)
sys.stdout.flush()
second = _interpreters.create()
try:
    problem = run(second, code)
except Exception as error:
    problem = error
if problem is not None:  # CPython 3.11 can lose the exit status when it ends other interpreters
    print(problem, file=sys.stderr, flush=True)
    os._exit(1)
_interpreters.destroy(second)
exec(code)
"""
NOTICE = "the compiled kernel answers in one interpreter of a process only"


@needs_compiled
def test_a_second_interpreter_has_the_python_kernel() -> None:
    done = python(_TWO, GEOLOOKUP_KERNEL="")
    kernels, answers = zip(*(line.split(" ", 1) for line in done.stdout.splitlines()), strict=True)
    assert kernels == ("compiled", "python", "compiled")
    assert len(set(answers)) == 1
    assert done.stderr.count(NOTICE) == 1


@needs_compiled
def test_a_second_interpreter_cannot_be_asked_for_the_compiled_kernel() -> None:
    problem = f"GEOLOOKUP_KERNEL is 'compiled', but {NOTICE}; use threads or processes"
    with pytest.raises(AssertionError, match=problem):
        python(_TWO, GEOLOOKUP_KERNEL="compiled")
