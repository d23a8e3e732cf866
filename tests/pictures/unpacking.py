"""The inverse of ``pictures.page_data``, as ``reports/assets/page_data.js`` has it."""

from __future__ import annotations

import zlib
from base64 import b64decode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.internals.dataset import F64, I64


def inflated(text: str) -> bytes:
    """Return the bytes of a text."""
    return zlib.decompress(b64decode(text), wbits=-zlib.MAX_WBITS) if text else b""


def unpack_integers(text: str) -> I64:
    """Return what ``pack_integers`` packed."""
    coded = _joined(inflated(text), "<u4").astype(np.int64)
    return np.cumsum(coded >> 1 ^ -(coded & 1))


def unpack_floats(text: str) -> F64:
    """Return what ``pack_floats`` packed."""
    return _joined(inflated(text), "<f8")


def _joined(planes: bytes, kind: str) -> NDArray[Any]:
    item = np.frombuffer(planes, np.uint8).reshape(np.dtype(kind).itemsize, -1)
    return np.ascontiguousarray(item.T).view(kind).ravel()
