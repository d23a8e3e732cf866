"""Several processes and threads on one store get exactly the rate and the quota."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.program import python

_FORK = """
import os, sys, time
from threading import Thread
from geolookup.errors import QuotaError, RateLimitError
from geolookup.gate import open_accounts
url, plans, children, threads = sys.argv[1:]
# Ten times as fast: 300 requests at 100 a second take 0.2 seconds.
accounts = open_accounts(url, plans, clock=lambda: time.time_ns() // 100)
key = accounts.create_key("Acme", "p")
accounts.admit(key)
admitted = [1]

def ask():
    while True:
        try:
            accounts.admit(key)
            admitted.append(1)
        except RateLimitError:
            time.sleep(0.0005)
        except QuotaError:
            return

pipes = []
for _ in range(int(children)):
    read, write = os.pipe()
    if not os.fork():
        admitted.clear()
        ask()
        accounts.close()
        os.write(write, b"%d" % len(admitted))
        os._exit(0)
    os.close(write)
    pipes.append(read)
asking = [Thread(target=ask) for _ in range(int(threads))]
for thread in asking:
    thread.start()
for thread in asking:
    thread.join()
(usage,) = accounts.usage()
print(len(admitted) + sum(int(os.read(pipe, 9)) for pipe in pipes), usage.used)
"""


@pytest.mark.parametrize(("rate", "children", "threads"), [(100, 0, 1), (100, 1, 1), (1000, 3, 4)])
def test_a_quota_of_300_admits_300(
    url: str, tmp_path: Path, rate: int, children: int, threads: int
) -> None:
    """In 1, 2 or 4 processes, forked while the store was in use, and in threads."""
    plans = tmp_path / "own.toml"
    plans.write_text(f"[plan.p]\nrate = {rate}\nquota = 300\n", encoding="utf-8")
    arguments = (url, str(plans), str(children), str(threads))
    warnings = "ignore:This process:DeprecationWarning"
    assert python(_FORK, *arguments, PYTHONWARNINGS=warnings).stdout == "300 300\n"
