"""``geolookup verify`` as a shell runs it: what it prints, and its exit status."""

from __future__ import annotations

from pathlib import Path

from geolookup.dataset import layout as fmt
from geolookup.integrity import verify
from geolookup.store.publish import publish
from tests.cli.program import run
from tests.damage import copied
from tests.datasets import SMALL


def test_a_whole_dataset_is_status_0() -> None:
    report = verify(SMALL)
    for options in ((), ("--deep",)):
        done = run("verify", str(SMALL), *options)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines() == [
            f"{SMALL}: undamaged, {report.files} files, {report.bytes:,} bytes",
            f"generation {report.generation}",
        ]


def test_what_is_no_dataset_is_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", Path(__file__)):
        done = run("verify", str(path))
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"geolookup: {path}")


def test_damage_is_status_1_with_a_line_for_each_file(tmp_path: Path) -> None:
    dataset = copied(SMALL, tmp_path / "copy")
    (dataset / fmt.ZONE).unlink()
    (dataset / fmt.IPV4).write_bytes(b"")
    done = run("verify", str(dataset))
    assert (done.returncode, done.stdout) == (1, "")
    first, second = done.stderr.splitlines()
    assert first.startswith(f"geolookup: {dataset / fmt.IPV4}: 0 bytes, but the manifest says ")
    assert second.startswith(f"geolookup: {dataset / fmt.ZONE}: missing; ")


def test_a_store_is_verified_by_its_current_generation(tmp_path: Path) -> None:
    generation = publish(SMALL, tmp_path / "store")
    done = run("verify", str(tmp_path / "store"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1] == f"generation {generation}"
    (tmp_path / "store" / "generations" / generation / fmt.ZONE).unlink()
    assert run("verify", str(tmp_path / "store")).returncode == 1


def test_a_folder_without_a_dataset_is_status_1(tmp_path: Path) -> None:
    done = run("verify", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "no dataset here" in done.stderr


def test_misuse_is_status_2() -> None:
    for args in ((), ("/nowhere",), ("README.md",), (str(SMALL), "--shallow")):
        done = run("verify", *args)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr
