"""The link of a proxy: a rate that all connections share, a latency, and faults.

Strategy: a byte is sent when all bytes before it are, of whichever connection. Faults are drawn
from a seeded generator: a run can be repeated as far as the order of requests allows.
"""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field

#: Bytes that are sent at once: the connections take turns after so many.
CHUNK = 16 << 10


@dataclass(frozen=True, slots=True)
class Quality:
    """How good a link is.

    ``rate`` is in bytes a second over all connections, ``latency`` in seconds before each answer.
    Of all answers the share ``errors`` is 503, and the share ``cuts`` ends before its last byte.
    """

    rate: float = 10e6
    latency: float = 0.05
    errors: float = 0.0
    cuts: float = 0.0


@dataclass(slots=True)
class Link:
    """A link of a quality; ``seed`` decides which answers fail."""

    quality: Quality
    seed: int = 1
    _free: float = 0.0
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    async def delay(self) -> None:
        """Wait for the latency of the link."""
        await asyncio.sleep(self.quality.latency)

    def fails(self) -> bool:
        """Draw whether the next answer is an error."""
        return self._random.random() < self.quality.errors

    def length_of(self, answer: int) -> int:
        """Draw how many bytes of an answer of so many bytes are sent before the link breaks."""
        cut = self._random.random() < self.quality.cuts
        return self._random.randrange(answer) if cut else answer

    async def send(self, stream: asyncio.StreamWriter, content: bytes) -> None:
        """Send bytes at the rate of the link, in turn with the other connections."""
        for begin in range(0, len(content), CHUNK):
            part = content[begin : begin + CHUNK]
            now = time.monotonic()
            self._free = max(now, self._free) + len(part) / self.quality.rate
            await asyncio.sleep(self._free - now)
            stream.write(part)
            await stream.drain()
