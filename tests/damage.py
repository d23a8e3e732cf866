"""What a damaged dataset may do: answer, or raise DatasetError. Nothing else."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest

import geolookup
from tests.conftest import build_at
from tests.datasets import once
from tests.envelopes import check_damaged

#: Every kind of path through a dataset: known, unknown, both ends, carried, refused.
ADDRESSES = (
    *("8.8.8.8", "1.0.0.0", "20.0.0.1", "223.255.255.255", "9.9.9.9", "::ffff:8.8.8.8"),
    *("2001:4860::1", "2a00::", "1::1", "fbff:ffff::", "2a00:1::5", "10.0.0.1", "nonsense"),
)

#: An interval and a gap of each family, for calls that take longer.
EXPLAINED = ("8.8.8.8", "223.255.255.255", "2a00:1::5", "fbff:ffff::")

CSV = '''network,country_code,city_name,latitude,longitude,time_zone,asn,organization,user_type
8.8.8.0/24,US,Mountain View,37.4,-122.1,America/Los_Angeles,15169,Google LLC,hosting
8.8.4.0/24,US,,,,,15169,Google LLC,
9.9.9.0/24,CH,Zürich,47.4,8.5,,19281,"Quad ""9""",business
20.0.0.0/8,IE,Dublin,53.3,-6.3,Europe/Dublin,,,
223.255.255.0/24,AU,,,,,,Edge,
2001:4860::/32,US,Mountain View,37.4,-122.1,America/Los_Angeles,15169,Google LLC,hosting
2a00::/16,FR,Paris,48.9,2.4,,3215,Orange,residential
2a00:1::/64,FR,Lyon,45.8,4.8,,3215,Orange,residential
'''


RECIPE = """[dataset]
name = "damaged"
[[source]]
format = "csv"
path = "a.csv"
"""


@contextmanager
def limited_files(size: int) -> Iterator[None]:
    """Let no file grow beyond so many bytes in the block; stands for a full disk.

    Python ignores the signal of the limit, so a write fails. Modules that are imported in the
    block write no bytecode, which would be truncated.
    """
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with patch.object(sys, "dont_write_bytecode", new=True):
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def whole(rows: str = CSV, name: str = "damage") -> Path:
    """Return a dataset of these rows, compiled once: ``copied`` gives one to damage."""

    def make(path: Path) -> None:
        with TemporaryDirectory() as folder:
            shutil.move(build_at(Path(folder), {"a.csv": rows}, RECIPE)[0], path)

    return once(name, make)


def copied(dataset: Path, target: Path) -> Path:
    """Return a copy of a dataset: each damage is done to a whole one."""
    shutil.rmtree(target, ignore_errors=True)
    return shutil.copytree(dataset, target)


@contextmanager
def without(path: Path) -> Iterator[bytes]:
    """Take a file out of its dataset for the block; the block may put another thing there."""
    aside = path.rename(path.parent.with_name(f"aside-{path.name}"))
    try:
        yield aside.read_bytes()
    finally:
        path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        aside.rename(path)


def crowded() -> Path:
    """Return a dataset with many intervals in one bucket of the jump table and one high half."""
    rows = [f"20.0.0.{at}/32,{'IE' if at % 4 else 'FR'}" for at in range(0, 256, 2)]
    rows += [f"2a00:1::{at:x}/128,{'IE' if at % 4 else 'FR'}" for at in range(0, 400, 2)]
    rows += [f"2a00:1:0:{at:x}::/64,FR" for at in range(2, 300, 2)]
    return whole(rows="\n".join(["network,country_code", *rows, ""]), name="crowded")


def survey(dataset: Path, addresses: Iterable[str] = ADDRESSES) -> str:
    """Return "answered" or "refused"; fail at anything that is neither."""
    try:
        engine = geolookup.open(dataset)
    except geolookup.DatasetError as error:
        return refused(error, str(dataset))
    outcomes = {_ask(engine, ip) for ip in addresses}
    try:
        walk(engine)
        repr(engine.metadata)
    except geolookup.DatasetError as error:
        outcomes.add(refused(error, str(engine.path)))
    engine.close()
    return "refused" if "refused" in outcomes else "answered"


def _ask(engine: geolookup.Engine, ip: str) -> str:
    calls: list[Callable[[], object]] = [
        lambda: check_damaged(engine.lookup(ip, at=0)),
        lambda: check_damaged(engine.lookup_json(ip, at=0)),
        lambda: _read(engine.answer(ip, at=0)),
        lambda: engine.answer(ip).prefix,
    ]
    if ip in EXPLAINED:
        calls.append(lambda: engine.explain(ip))
    outcome = "answered"
    for call in calls:
        try:
            call()
        except geolookup.DatasetError as error:
            outcome = refused(error, str(engine.path))
    return outcome


def _read(answer: geolookup.Answer) -> None:
    check_damaged(answer.to_dict())
    assert answer.location != answer.time
    repr([answer, answer.location, answer.time, answer.currency, answer.network, answer.prefix])


def refused(error: geolookup.DatasetError, path: str) -> str:
    assert path in str(error)
    assert error.remedy
    # No part of the lookup; the folder of a test has no such name.
    assert not any(ip in str(error) for ip in ADDRESSES)
    return "refused"


def walk(engine: geolookup.Engine) -> None:
    """Read the first networks: they ascend, whatever the starts are."""
    groups = ["location", "currency", "network"]
    before = (0, -1)
    for network, values in islice(engine.prefixes(by=groups, aggregate=False), 200):
        assert len(values) == len(groups)
        first = network.version, int(network[0])
        assert first > before
        before = network.version, int(network[-1])


def _placed(folder: Path, other: Path) -> None:
    """Put another dataset in the place of one."""
    shutil.rmtree(folder)
    shutil.copytree(other, folder)
    folder.chmod(0o777)


def _swapped(folder: Path, _other: Path) -> None:
    """Change a byte of a file, and neither its size nor its mode."""
    path = folder / "location.arrow"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def _writable(folder: Path, _other: Path) -> None:
    (folder / "location.arrow").chmod(0o666)


def given_away(path: Path, _other: Path) -> None:
    """Give a file or folder to another user; a test that is not run by root: to all."""
    for item in (path, *path.rglob("*")):
        try:
            os.chown(item, 54321, -1)
        except PermissionError:
            item.chmod(0o777)


#: What can happen to a dataset in a cache that others could write; called with another dataset.
TAMPERING = (_placed, _swapped, _writable, given_away)
