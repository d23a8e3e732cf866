"""Forged datasets: members, columns and manifests changed at random, with right checksums.

Each forgery keeps sizes, digests and offsets right. With ``verify`` left out, a lookup must
answer by the types of the contract or raise DatasetError. ``verify``, ``publish`` and ``unpack``
must refuse each forgery of a member, and each dataset under the id of another generation.
"""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from geolookup.archives.pack import pack
from geolookup.archives.unpack import unpack
from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import canonical
from geolookup.errors import GeoLookupError
from geolookup.integrity import verify
from geolookup.store.publish import publish
from tests.corrupt.forging import manifest, member, rows
from tests.corrupt.members import TABLES, forgeries, outcomes
from tests.damage import copied, whole

FORGERIES = 1000
_SEED = 20_261_122
#: Bytes that mean something in JSON, UTF-8 or a row, and some that do not.
_BYTES = b'"\\{}[],:.-+eE0123456789truefalsn\x00\x1f\x7f\x80\xc0\xed\xf4\xff \n\t\xc3\xbc'


def attack() -> None:
    rng, found = random.Random(_SEED), Counter[str]()
    with tempfile.TemporaryDirectory() as place:
        listed = list(forgeries())
        for number in range(FORGERIES):
            dataset = copied(whole("full"), Path(place) / "forged")
            if number % 3 == 0:
                _kind(dataset, rng.choice(listed))
                found.update(_ways_in(dataset, Path(place)))
            else:
                _bytes(dataset, rng)
            found.update(_asked(dataset))
        for _ in range(FORGERIES // 10):
            dataset = copied(whole("full"), Path(place) / "forged")
            _other_id(dataset, rng)
            found.update(_ways_in(dataset, Path(place)))
    print(*(f"{count:7,} {what}" for what, count in sorted(found.items())), sep="\n")
    assert not any(what.startswith("WRONG") for what in found)


def _kind(dataset: Path, forgery: tuple[str, int, bytes]) -> None:
    table, number, text = forgery
    member(dataset, fmt.TABLES[table], number, text)


def _bytes(dataset: Path, rng: random.Random) -> None:
    """Replace, insert or remove bytes of one table's rows."""
    table = rng.choice(TABLES)

    def changed(members: list[bytes]) -> list[bytes]:
        row = bytearray(b"\n".join(members))
        for _ in range(rng.randint(1, 3)):
            at, size = rng.randrange(len(row) + 1), rng.choice((0, 1, 1, 2))
            row[at : at + size] = bytes(rng.choices(_BYTES, k=rng.choice((0, 1, 1, 2))))
        return bytes(row).split(b"\n")

    rows(dataset, fmt.TABLES[table], changed)


def _other_id(dataset: Path, rng: random.Random) -> None:
    """State the id of another generation, or change what the id is of."""
    document = manifest(dataset)
    if rng.random() < 0.5:
        document["generation"] = f"{rng.getrandbits(256):064x}"
    else:
        document["sources"][0]["licence"] = f"{rng.getrandbits(32)}"
    (dataset / fmt.MANIFEST).write_bytes(canonical(document))


def _asked(dataset: Path) -> list[str]:
    found = outcomes(dataset)
    wrong = found - {"refused", "answered"}
    return [f"WRONG answers: {min(wrong)[:60]}"] if wrong else [f"lookups {max(found)}"]


def _ways_in(dataset: Path, place: Path) -> list[str]:
    """Return what each call that lets a dataset in does with it."""
    archive, output, store = place / "forged.tar.zst", place / "unpacked", place / "store"
    pack(dataset, archive, force=True)
    calls: dict[str, Callable[[], object]] = {
        "verify": lambda: verify(dataset),
        "publish": lambda: publish(dataset, store),
        "unpack": lambda: unpack(archive, output, force=True),
    }
    found = [_let_in(name, call) for name, call in calls.items()]
    shutil.rmtree(store, ignore_errors=True)
    shutil.rmtree(output, ignore_errors=True)
    return found


def _let_in(name: str, call: Callable[[], object]) -> str:
    try:
        call()
    except GeoLookupError:
        return f"{name} refused"
    return f"WRONG {name} accepted"
