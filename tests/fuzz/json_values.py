"""Changes of a JSON document that keep it one: a value here or there becomes another."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

from tests.fuzz.target import Change

_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 7, 8, 255, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 63, 1 << 64),
    *(-(1 << 63), 10**400, 0.5, -0.0, 1e308, float("inf"), float("nan")),
    *("", "0", "-8", "x", "\ud800"),
    *("../x", "/dev/null", "a\nb", "\0", [], [[]], [0, 0], [8, -8], {}, {"": 0}, [None] * 3),
)


def mutate(data: bytes, change: Change, rng: random.Random) -> bytes:
    """Change the bytes of a document, or more often its values."""
    return change(data) if rng.randrange(4) == 0 else changed(data, rng)


def changed(data: bytes, rng: random.Random) -> bytes:
    """Return the document with one to three values changed; the bytes where they are none."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return data
    for _ in range(rng.randint(1, 3)):
        places = list(_places(document))
        if not places:
            break
        holder, key = rng.choice(places)
        _change(holder, key, rng.choice(places), rng)
    return json.dumps(document).encode()


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return all (object or array, key or index) of a document."""
    is_list = isinstance(value, list)
    keys = range(len(value)) if is_list else value if isinstance(value, dict) else ()
    return [place for key in keys for place in [(value, key), *_places(value[key])]]


def _change(holder: Any, key: Any, other: tuple[Any, Any], rng: random.Random) -> None:
    kind = rng.randrange(4)
    value = holder[key]
    if kind == 0 and isinstance(holder, dict):
        del holder[key]
    elif kind == 1 and isinstance(value, int):
        holder[key] = value + rng.choice((-64, -8, -4, -1, 1, 4, 8, 64, value, -2 * value))
    elif kind == 2:
        holder[key] = copy.deepcopy(other[0][other[1]])
    else:
        holder[key] = copy.deepcopy(rng.choice(_VALUES))  # later changes may be within it
