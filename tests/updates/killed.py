"""An update in a process of its own that is killed, or refused by the disk, before a step.

``python -m tests.updates.killed KIND STEP RECIPE``: kind and step are those of
``tests.store.dying``. Without an end it prints the number of steps left.
"""

from __future__ import annotations

import sys
from typing import cast

import geolookup
from tests.store.dying import Kind, arm

if __name__ == "__main__":
    update = geolookup.update  # imports what an update needs
    left = arm(cast("Kind", sys.argv[1]), int(sys.argv[2]))
    update(sys.argv[3])
    sys.stdout.write(str(left()))
