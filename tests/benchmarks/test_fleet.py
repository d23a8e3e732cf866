"""``fleet`` simulates, kills, counts and checks; no time is asserted."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

import geolookup
from benchmarks.data import changed, generate
from benchmarks.data.shape import SCALES
from benchmarks.fleet import edges as edge_processes
from benchmarks.fleet import lookups, rollout
from benchmarks.fleet.edges import Edge
from tests.conftest import ROOT
from tests.servers import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fleet needs /proc")
#: A follower that has one child: both wait for longer than any test.
_FOLLOWER = "import subprocess; subprocess.run(['sleep', '600'])"


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two generations, the second with one per cent of the rows changed."""
    from geolookup_builder.compile import compile_dataset
    from geolookup_builder.overlaid_sources import Options

    from geolookup.progress import Progress

    folders = [tmp_path_factory.mktemp(name) for name in ("one", "two")]
    recipe = generate.write(folders[0], SCALES["tiny"]).recipe
    for item in (recipe, changed.write(recipe, folders[1])):
        compile_dataset(item, item.parent / "dataset", Options(), Progress())
    return [folder / "dataset" for folder in folders]


@pytest.fixture
def stores(datasets: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    monkeypatch.setattr(rollout, "_SPARE", 0)  # however little memory is free
    geolookup.publish(datasets[0], tmp_path / "store")
    (tmp_path / "edges").mkdir()
    return edge_processes.install(tmp_path / "store", tmp_path / "edges", 3)


@pytest.mark.long
def test_stores_and_generations_of_edges(stores: list[Path], datasets: list[Path]) -> None:
    first = geolookup.generations(stores[0])[0].generation
    geolookup.publish(datasets[1], stores[1])
    assert [len(geolookup.generations(store)) for store in stores] == [1, 2, 1]
    for store in stores:
        geolookup.verify(store, deep=True)
    edges = [Edge(store, ()) for store in stores]
    assert all(edge.look() for edge in edges)
    assert [edge.generation == first for edge in edges] == [True, False, True]
    edge = Edge(stores[0], ())
    assert edge.look()
    generation = stores[0] / "generations" / edge.generation
    generation.rename(generation.with_name("aside"))
    assert not edge.look()


@pytest.mark.long
def test_every_edge_is_killed_once_and_runs_again(stores: list[Path]) -> None:
    with edge_processes.run_edges(stores, _follower) as edges:
        rollout.start(edges, 0)
        until(lambda: all(edge.children() for edge in edges))
        children = [pid for edge in edges for pid in edge.children()]
        killer = rollout.Killer(edges[:2], 1)
        result = rollout.roll(edges, _generation(stores), 120, killer)
        assert (killer.kill_count, killer.is_done) == (2, True)
        assert len(result.seconds) == 3
        assert result.lacking == 0
        assert [_is_alive(pid) for pid in children] == [False, False, True]
        until(lambda: all(edge.children() for edge in edges))
        processes = [edge.process.pid for edge in edges if edge.process]
        children = [pid for edge in edges for pid in edge.children()]
    until(lambda: not any(map(_is_alive, [*processes, *children])))


@pytest.mark.long
def test_no_follower_outlives_a_killed_benchmark(stores: list[Path]) -> None:
    script = (
        "import sys, time; from pathlib import Path; from benchmarks.fleet.edges import Edge\n"
        f"edge = Edge(Path({str(stores[0])!r}), ['sleep', '600']); edge.start()\n"
        "print(edge.process.pid, flush=True); time.sleep(600)"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        assert _is_alive(pid)
        parent.kill()
    until(lambda: not _is_alive(pid))


def test_the_shares_of_a_rollout_and_answers_without_their_time() -> None:
    for zone, at in product(('"2026-11-23T10:59:18+01:00"', "null"), (1, 20)):
        answer = f'{{"current_time":{zone},"current_timestamp":{at},"is_dst":1}}'
        assert lookups.without_time(answer.encode()) == b'{"is_dst":1}'
    result = rollout.Rollout([float(second) for second in range(1, 101)])
    assert [rollout.within(result, 100, share) for share in (0.5, 0.99, 1.0)] == [50, 99, 100]
    assert [rollout.within(result, 200, share) for share in (0.5, 0.99, 1.0)] == [100, None, None]
    assert rollout.within(rollout.Rollout([7.0]), 1, 0.5) == 7


@pytest.mark.long
def test_an_answer_of_another_generation_is_wrong(datasets: list[Path]) -> None:
    expected = lookups.envelopes(datasets)
    first, second = expected
    different = next(value for value in expected[first] if _differs(expected, value))
    with geolookup.open(datasets[0]) as engine:
        right = lookups.Lookups([engine], expected)
        right.ask(engine, different)
        right.stop()
        swapped = {first: expected[second], second: expected[first]}
        wrong = lookups.Lookups([], swapped)
        wrong.ask(engine, different)
        wrong.stop()
    assert set(right.counts) == {first}
    assert wrong.counts == Counter(wrong=1)
    assert different in wrong.wrong[0]


def _follower(_store: Path) -> list[str]:
    return [sys.executable, "-c", _FOLLOWER]


def _generation(stores: list[Path]) -> str:
    return geolookup.generations(stores[0])[0].generation


def _differs(expected: lookups.Envelopes, address: str) -> bool:
    return len({of[address] for of in expected.values()}) > 1


def _is_alive(pid: int) -> bool:
    try:
        return b") Z " not in Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):  # reaped, even between opening and reading
        return False
