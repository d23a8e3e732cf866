"""Random indexes of mirrors, all valid."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from geolookup.mirrors.index import Delta, File, Index, Listed, time_text

_MOST_BYTES, _MOST_SERIAL = (64 << 30) - 1, (1 << 63) - 1
ids = st.binary(min_size=32, max_size=32).map(bytes.hex)
_INSTANTS = st.integers(0, 4_000_000_000)  # of 1970 to 2096
times = _INSTANTS.map(lambda seconds: time_text(datetime.fromtimestamp(seconds, UTC)))
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_parts = st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,20}", fullmatch=True)
files = st.builds(
    File, st.lists(_parts, min_size=1, max_size=3).map("/".join), st.integers(1, _MOST_BYTES), ids
)


@st.composite
def _listed(draw: st.DrawFn, generation: str, *, withdrawn: bool) -> Listed:
    bases = st.lists(ids.filter(lambda each: each != generation), max_size=3, unique=True)
    deltas = [] if withdrawn else [Delta(base, draw(files)) for base in draw(bases)]
    pack = None if withdrawn else draw(files)
    signature = draw(st.none() | names)
    return Listed(generation, draw(times), pack, tuple(deltas), withdrawn, signature)


@st.composite
def indexes(draw: st.DrawFn) -> Index:
    """Return an index of up to four generations."""
    generations = draw(st.lists(ids, min_size=1, max_size=4, unique=True))
    current = draw(st.sampled_from(generations))
    listed = [
        draw(_listed(each, withdrawn=each != current and draw(st.booleans())))
        for each in generations
    ]
    serial, expires = st.integers(1, _MOST_SERIAL), st.none() | times
    return Index(draw(names), draw(serial), draw(times), current, tuple(listed), draw(expires))
