"""The exact rate, a sliding window: at most ``rate`` admissions in any half-open second.

A ring holds the stamps of the last ``rate`` admissions, oldest first, each 8 bytes
big-endian, so that stamps compare like bytes. A request is admitted if the oldest stamp is
at least a second old: then no second contains both. Unused places hold zeros.

Stamps are Unix times in microseconds.
"""

from __future__ import annotations

import struct

SECOND = 1_000_000
STAMP_BYTES = 8


def empty(rate: int) -> bytes:
    """Return the ring of an unused account."""
    return bytes(STAMP_BYTES * rate)


def stamp(moment: int) -> bytes:
    """Return the stamp of a time, as stored in a ring."""
    return moment.to_bytes(STAMP_BYTES, "big")


def decide(ring: bytes, rate: int, now: int) -> tuple[bytes, int]:
    """Return the ring after a request, and 0 if it is admitted, else when to retry.

    A ring of another rate is resized. Stamps in the future (the clock was set back)
    become ``now``, so that no caller waits longer than a second.
    """
    stamps = [min(moment, now) for moment in _unpacked(ring)][-rate:]
    stamps[:0] = [0] * (rate - len(stamps))
    free = stamps[0] + SECOND
    if free > now:
        return _packed(stamps), free
    return _packed([*stamps[1:], now]), 0


def _unpacked(ring: bytes) -> tuple[int, ...]:
    return struct.unpack(f">{len(ring) // STAMP_BYTES}Q", ring)


def _packed(stamps: list[int]) -> bytes:
    return struct.pack(f">{len(stamps)}Q", *stamps)
