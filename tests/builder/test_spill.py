"""Builds whose ranges exceed the memory: errors, a full disk, a killed process, and the budget."""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from geolookup_builder import memory
from geolookup_builder.bands import PartitionBands
from geolookup_builder.build_report import SourceReport
from geolookup_builder.check_report import Limits, RecipeCheck, SourceCheck, TableCheck
from geolookup_builder.memory import MemoryBudget

import geolookup
from geolookup.errors import BuildError, OutputError
from geolookup.filesystem import limits
from tests.builder.building import fails, recipe, unwritable
from tests.conftest import build_at
from tests.corrupt.test_full_disk import mounted
from tests.property.compiled import content
from tests.property.test_spilled import tiny_memory

ROWS = "network,city_name\n" + "".join(f"20.{n}.0.0/16,City {n}\n" for n in range(200))
FILES: dict[str, str | bytes] = {"a.csv": ROWS}


def test_an_error_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise BuildError("a.csv", "a problem")

    monkeypatch.setattr(PartitionBands, "finish", fail)
    with tiny_memory():
        fails(tmp_path, FILES)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "recipe.toml"]


@pytest.mark.long
def test_a_killed_build_is_swept_by_the_next(tmp_path: Path) -> None:
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from geolookup_builder.bands import PartitionBands\n"
        "from tests.builder.test_spill import FILES\n"
        "from tests.conftest import build_at\n"
        "from tests.property.test_spilled import tiny_memory\n"
        "PartitionBands.finish = lambda self: os.kill(os.getpid(), 9)\n"
        "with tiny_memory():\n"
        "    build_at(Path(sys.argv[1]), FILES)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert done.returncode
    left = {path.name for path in tmp_path.iterdir()} - {"a.csv", "recipe.toml"}
    assert len(left) == 1
    with tiny_memory():
        dataset, _ = build_at(tmp_path, FILES)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["a.csv", "dataset", "recipe.toml"]
    (tmp_path / "memory").mkdir()
    assert content(dataset) == content(build_at(tmp_path / "memory", FILES)[0])


def test_a_full_disk(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    folder.mkdir()
    with mounted(folder, "-t", "tmpfs", "-o", "size=64k", "none"), tiny_memory():
        (folder / "filler").write_bytes(bytes(24_000))
        text = str(unwritable(folder, FILES))
        problem = "bytes beside it (No space left on device); free space, or raise max_memory"
        assert problem in text
        assert sorted(path.name for path in folder.iterdir()) == ["a.csv", "filler", "recipe.toml"]
        (folder / "more").write_bytes(bytes(limits.free_space(folder)))
        assert "are free on its disk" in str(unwritable(folder, FILES))
        assert len([*folder.iterdir()]) == 4
        gc.collect()  # the frames of the errors hold mapped files


def test_content_that_must_be_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = recipe('path = "a.csv"').replace("\n", '\nexplain = "full"\n', 1)
    with tiny_memory():
        error = fails(tmp_path, FILES, full)
        assert 'explain = "full" needs all rows in memory; max_memory is' in str(error)
        error = fails(tmp_path, FILES, recipe('path = "a.csv"\nwithin = "20.0.0.0/8"'))
        assert "needs all rows in memory" in str(error)
    small = MemoryBudget(1000, 1000, 1, 1000, 10)
    monkeypatch.setattr(MemoryBudget, "of", lambda _: small)
    error = fails(tmp_path, FILES)
    assert "distinct values take" in str(error)
    assert str(error).endswith("bytes of memory; max_memory is 1,000; raise max_memory")


def test_a_check_predicts_the_memory() -> None:
    def lines(rows: int, **limits: str) -> list[str]:
        table = TableCheck(SourceReport("a.csv", read=rows), (), {}, (), {}, ())
        source = SourceCheck("a.csv", "a.csv", tables=[table])
        return [*RecipeCheck("", Limits(**limits), [source]).lines()]  # type: ignore[arg-type]

    line = "memory: about 2.3 GB; --max-memory limits it"
    assert line in lines(15_000_000)
    assert not [text for text in lines(10_000) if text.startswith("memory")]
    assert not [text for text in lines(15_000_000, max_memory="1GB") if text.startswith("memory")]


def test_a_check_without_a_temporary_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise FileNotFoundError(2, "No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", fail)
    data = tmp_path / "a.csv"
    data.write_text(ROWS, encoding="utf-8")
    assert not geolookup.check(data).has_problem
    with tiny_memory(), pytest.raises(OutputError, match=r"^\$TMPDIR: .*; name a folder that"):
        geolookup.check(data)


@pytest.mark.parametrize("size", ["1", "much", "100MB", 5])
def test_a_malformed_size(tmp_path: Path, size: str | int) -> None:
    with pytest.raises(ValueError, match=str(size)):
        geolookup.build("a.csv", tmp_path / "dataset", max_memory=size)


def test_the_default_is_a_part_of_the_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 4 * 10**9)
    assert MemoryBudget.of(None).limit == 3 * 10**9
    monkeypatch.setattr(memory, "available", lambda: 1)
    assert MemoryBudget.of(None).limit == memory.LEAST
    assert MemoryBudget.of("2GB").limit == 2 * 10**9


@pytest.mark.parametrize(
    ("line", "folder", "limit", "use", "cached"),
    [
        ("0::/job/build", "job", "memory.max", "memory.current", "inactive_file"),
        (
            *("4:cpu,memory:/job", "memory/job", "memory.limit_in_bytes"),
            *("memory.usage_in_bytes", "total_inactive_file"),
        ),
        # A container sees its own group as the root.
        ("0::/../outside", ".", "memory.max", "memory.current", "inactive_file"),
    ],
)
def test_the_memory_that_control_groups_leave(
    tmp_path: Path, line: str, folder: str, limit: str, use: str, cached: str
) -> None:
    groups, root = tmp_path / "cgroup", tmp_path / "fs"
    groups.write_text(f"1:name=systemd:/x\n{line}\n", encoding="utf-8")
    group = root / folder
    group.mkdir(parents=True)
    for name, text in ((limit, "1000\n"), (use, "400\n"), ("memory.stat", f"a 1\n{cached} 50\n")):
        (group / name).write_text(text, encoding="utf-8")
    assert [*memory.of_groups(groups, root)] == [650]
    (group / limit).write_text("max\n", encoding="utf-8")
    assert [*memory.of_groups(groups, root)] == []
