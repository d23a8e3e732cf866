"""The texts that are annotated: access logs as nginx writes them, and prose with few addresses."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.harness import workload

_WEBKIT = "(KHTML, like Gecko)"
_AGENTS = (
    f"Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 {_WEBKIT} Chrome/120.0.0.0 Safari/537.36",
    f"Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 {_WEBKIT} Version/17.1 Mobile/15E148 Safari/604.1",
    "curl/8.5.0",
)
_TEXT = "the error of a connection: timed out. in module x at 12:34:56, retry soon; status ok"
_WORDS = _TEXT.split()
_VISITORS = 50_000
#: By name: how many visitors there are (None: one for each line), and the lines that have an
#: address, of a hundred.
TEXTS = {
    "access log, 50,000 visitors": (_VISITORS, 100),
    "access log, a visitor for each line": (None, 100),
    "prose, an address in 100 lines": (_VISITORS, 1),
}


def write(name: str, dataset: Path, megabytes: float, target: Path) -> None:
    """Write a text; the same arguments give the same one.

    Visitors are of intervals that are equally likely, and their visits follow Zipf's law.
    """
    visitors, share = TEXTS[name]
    lines = max(int(megabytes * 1e6 / 200), 100)
    count = max(lines * share // 100, 1)
    visits = workload.addresses(
        workload.read(dataset, 4), "uniform", min(visitors or count, count), hit=True
    )
    if visitors is not None:
        weights = [1 / rank for rank in range(1, len(visits) + 1)]
        visits = random.Random(1).choices(visits, weights, k=count)
    content = _log(visits) if share == 100 else _prose(visits, 100 // share)
    with target.open("w", encoding="ascii") as stream:
        stream.writelines(content)


def _log(addresses: Iterable[str]) -> Iterator[str]:
    for at, address in enumerate(addresses):
        yield (
            f"{address} - - [20/Nov/2026:12:{at // 60 % 60:02}:{at % 60:02} +0000] "
            f'"GET /assets/app.{at % 977:x}.js?v=1.2 HTTP/1.1" 200 {at * 37 % 90000} '
            f'"https://www.example.com/page/{at % 300}" "{_AGENTS[at % len(_AGENTS)]}"\n'
        )


def _prose(addresses: Iterable[str], lines: int) -> Iterator[str]:
    rng = random.Random(1)
    for address in addresses:
        for _ in range(lines - 1):
            yield " ".join(rng.choices(_WORDS, k=30)) + "\n"
        yield f"{' '.join(rng.choices(_WORDS, k=30))} from {address}.\n"
