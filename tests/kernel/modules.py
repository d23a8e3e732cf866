"""Both kernels, as parameters: a test of the compiled one skips where it was not built."""

from __future__ import annotations

import pytest

from tests.internals.kernel import python
from tests.skips import needs, optional

compiled = optional("geolookup.kernel._compiled")
needs_compiled = needs("geolookup.kernel._compiled")
MODULES = [
    pytest.param(compiled, marks=needs_compiled, id="compiled"),
    pytest.param(python, id="python"),
]
