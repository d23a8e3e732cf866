"""One worker that asks as fast as it can: ``python -m tests.gate.hammer URL PLANS KEY LOG``.

Each admission appends its moments before and after to the log, as two 8-byte
integers in one write, which a ``kill -9`` leaves whole. It ends when the quota
has been used up for a while.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import time
from pathlib import Path

from geolookup.errors import QuotaError, RateLimitError
from geolookup.gate import Accounts, open_accounts
from tests.conftest import ROOT

_MOMENTS = struct.Struct("=QQ")
#: Seconds of nothing but QuotaError: longer than any worker holds a token.
_OVER = 0.5
_PATIENCE = 60


def start(url: str, plans: Path, key: str, log: Path) -> subprocess.Popen[bytes]:
    """Start a worker of its own process."""
    command = [sys.executable, "-m", "tests.gate.hammer", url, str(plans), key, str(log)]
    return subprocess.Popen(command, cwd=ROOT)


def admissions(log: Path) -> list[tuple[int, int]]:
    """Return the moments before and after each admission, nanoseconds."""
    return list(_MOMENTS.iter_unpack(log.read_bytes()))


def hammer(accounts: Accounts, key: str, log: int) -> None:
    began = over_since = time.monotonic()
    while time.monotonic() - over_since < _OVER:
        before = time.time_ns()
        try:
            accounts.admit(key)
        except QuotaError:
            continue
        except RateLimitError:
            if time.monotonic() - began > _PATIENCE:
                raise TimeoutError("the quota does not come to its end") from None
        else:
            os.write(log, _MOMENTS.pack(before, time.time_ns()))
        over_since = time.monotonic()


if __name__ == "__main__":
    given_url, given_plans, given_key, given_log = sys.argv[1:]
    with open_accounts(given_url, given_plans) as opened:
        hammer(opened, given_key, os.open(given_log, os.O_WRONLY | os.O_APPEND | os.O_CREAT))
