"""What the property tests draw from: addresses that meet edges, and texts near to addresses."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from tests.address_texts import INVALID, VALID_IPV4, VALID_IPV6

_LETTERS = "0123456789abcdefABCDEF:.:.:. %/x+-_\0\n\xe9\u0661"
#: Short texts to mutate (long texts are refused by their length); an edit seldom
#: leaves a dotted quad one, hence more of them.
SEEDS = [text for text in (*VALID_IPV4 * 5, *VALID_IPV6, *INVALID) if len(text) < 60]


def mutated(rng: random.Random, text: str) -> str:
    """Return a text one to three edits away."""
    letters = list(text)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(letters) + 1)
        end = at + rng.choice((0, 1, 1, 2))
        letters[at:end] = rng.choices(_LETTERS, k=rng.choice((0, 1, 1, 2)))
    return "".join(letters)


def _groups(value: int) -> str:
    return ":".join(f"{value >> shift & 0xFFFF:x}" for shift in range(112, -1, -16))


#: Groups are mostly zero or full: runs of zeros of every length and place occur.
ipv6_values = st.lists(
    st.sampled_from((0, 0, 0, 1, 0xFFFF)) | st.integers(0, 0xFFFF), min_size=8, max_size=8
).map(lambda groups: sum(group << 16 * at for at, group in enumerate(groups)))
ipv4_values = st.integers(0, (1 << 32) - 1)
texts = st.one_of(
    st.text(_LETTERS, max_size=48),
    st.text(max_size=20),
    st.from_regex(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", fullmatch=True),
    st.from_regex(r"([0-9a-fA-F]{0,4}:){1,8}[0-9a-fA-F]{0,4}", fullmatch=True),
    st.from_regex(r"([0-9a-f]{0,4}:){1,7}[0-9]{1,3}(\.[0-9]{1,3}){3}", fullmatch=True),
    ipv6_values.map(_groups),
    st.builds(mutated, st.randoms(use_true_random=False), st.sampled_from(SEEDS)),
)
