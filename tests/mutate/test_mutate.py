"""The tool itself, on a tree of two files: which mutants it makes, judges and reports."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from tests.mutate import cython_positions, scope
from tests.mutate.judging import JudgeError
from tests.mutate.mutant import Mutant, Position, sample
from tests.mutate.running import Runner, Tally, total
from tests.mutate.scope import Module, Survivor
from tests.skips import needs

_TREE = {
    "product.py": (
        "LIMIT = 10\n\ndef fits(size: int) -> bool:\n    return size <= LIMIT\n\n\n"
        'def grows(size: int) -> int:\n    """Return 1 more."""\n    return size + 1\n'
    ),
    "test_product.py": (
        "import product\n\ndef test_fits():\n    assert product.fits(10)\n"
        "    assert not product.fits(12)\n"
    ),
}
_MODULE = Module("product", ["*.py", "!test_*.py"], ["test_product.py"], 5)


def _unexpected(mutant: Mutant) -> None:
    pytest.fail(str(mutant))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, content in _TREE.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    return tmp_path


@needs("cosmic_ray")
def test_survivors_are_reported_unless_they_are_listed(tree: Path) -> None:
    mutants = {mutant.after: mutant for mutant in sample(_MODULE.positions(tree), "seed")}
    assert mutants.keys() == {
        *("LIMIT = 11", "LIMIT = 9", "return size < LIMIT", "return size > LIMIT"),
        *("return size - 1", "return size + 2", "return size + 0"),
    }
    selection = ("return size < LIMIT", "LIMIT = 11", "return size - 1", "return size + 0")
    _, planted, equivalent, accepted = drawn = [mutants[after] for after in selection]
    entries = [
        Survivor(*equivalent.key, "equivalent", "of the test"),
        Survivor(*accepted.key, "accepted", "of the test"),
    ]
    survivors: list[Mutant] = []
    with Runner(tree, 2, entries) as runner:
        tally = runner.tally(_MODULE, iter(drawn), 100, survivors.append)
    assert survivors == [planted]  # no test asks about 11
    assert tally == Tally("product", made=4, killed=1, survived=1, equivalent=1, accepted=1)
    assert (tree / "product.py").read_text(encoding="utf-8") == _TREE["product.py"]
    assert [entry.fault(tree) for entry in entries] == [None] * 2
    (tree / "product.py").write_text("LIMIT = 10\n", encoding="utf-8")
    assert [entry.fault(tree) for entry in entries] == ["is no longer a line of the file"] * 2
    assert Survivor(*planted.key, "accepted", "").fault(tree) is not None


@needs("cosmic_ray")
def test_tests_that_fail_without_a_change_judge_nothing(tree: Path) -> None:
    (tree / "test_product.py").write_text("def test_fails():\n    assert 1 == 2\n", "utf-8")
    with Runner(tree, 1) as runner, pytest.raises(JudgeError, match="assert 1 == 2"):
        runner.tally(_MODULE, iter(()), 100, _unexpected)


@needs("cosmic_ray")
def test_the_same_seed_gives_the_same_mutants() -> None:
    module = scope.modules()["cleaning"]
    first, second = (list(islice(sample(module.positions(), "a"), 12)) for _ in range(2))
    assert first == second
    assert first != list(islice(sample(module.positions(), "b"), 12))
    functions = [mutant.function for mutant in first]
    assert len(set(functions[: len(set(functions))])) == len(set(functions)) > 3


@needs("cosmic_ray")
def test_what_only_people_or_tools_read_is_left_alone(tree: Path) -> None:
    source = (
        '"""Text 1."""\n__all__ = ["grows"]\nif TYPE_CHECKING:\n    A = 1\n\n'
        '@option("--a", help="b")\ndef grows(size: int | None = ask(help="c")) -> tuple[int, 3]:\n'
        '    """Text."""\n    log.warning("word", 1)\n    other: Literal[1]\n    raise Bad("d")\n'
    )
    (tree / "product.py").write_text(source, encoding="utf-8")
    assert [str(mutant) for mutant in sample(_MODULE.positions(tree), "")] == []


@needs("cosmic_ray")
@pytest.mark.parametrize(
    ("source", "mutated"),
    [
        ("f(1)\n", "pass"),
        ("a += b\n", "pass"),
        ("x = f(a, b)\n", "x = f(b, a)"),
        ("x = ('a', 'b c')\n", "x = ('b c', 'a')"),
        ("x = 'word'\n", "x = 'wordX'"),
        ("if a and b:\n    pass\n", "if a or b:"),
        ("if not a:\n    pass\n", "if a:"),
    ],
)
def test_operators(tree: Path, source: str, mutated: str) -> None:
    (tree / "product.py").write_text(source, encoding="utf-8")
    assert mutated in [" ".join(m.after.split()) for m in sample(_MODULE.positions(tree), "")]


def test_mutants_of_cython(tmp_path: Path) -> None:
    (tmp_path / "a.pxi").write_text(
        '"""Text < 1 and 2."""\ncdef uint8_t[256] table\n\n'
        "cdef bint fits(int size,\n               int most = 3) noexcept nogil:\n"
        '    """A < 3."""\n    return <int>size < most + 5 and size != c"+"  # size < 4\n',
        encoding="utf-8",
    )
    drawn = list(sample(cython_positions.positions(tmp_path, "a.pxi"), ""))
    assert {(mutant.function, mutant.after) for mutant in drawn} == {
        ("fits", 'return <int>size <= most + 5 and size != c"+"  # size < 4'),
        ("fits", 'return <int>size < most - 5 and size != c"+"  # size < 4'),
        ("fits", 'return <int>size < most + 6 and size != c"+"  # size < 4'),
        ("fits", 'return <int>size < most + 5 or size != c"+"  # size < 4'),
        ("fits", 'return <int>size < most + 5 and size == c"+"  # size < 4'),
    }


def test_every_module_has_files_and_tests_and_every_entry_a_reason() -> None:
    modules = scope.modules().values()
    for module in modules:
        assert module.paths(), module.name
        assert all((scope.ROOT / test).exists() for test in module.tests), module.name
    assert sum(module.mutants for module in modules) >= 450
    assert [entry.fault() for entry in scope.survivors() if entry.fault()] == []


def test_an_entry_is_read_as_it_is_printed(tmp_path: Path) -> None:
    key = ("a.py", "f", "ChangeWord", "x = 'a' + \"\\b\"", "x = 'aX'")
    (tmp_path / "list.toml").write_text(scope.as_entry(Mutant(*key[:3], 4, *key[3:], "")), "utf-8")
    (entry,) = scope.survivors(tmp_path / "list.toml")
    assert entry.key == key


def test_tallies_are_summed() -> None:
    assert total([Tally("a", 5, 3, 0, 2), Tally("b", 4, 1, 1, 1, 1, 1)]) == Tally(
        "all", 9, 4, 1, 3, 1, 1
    )


def test_a_change_that_changes_nothing_is_no_mutant() -> None:
    assert Position("a.py", "f", "same", 1, "x = 1\n", lambda: "x = 1\n").mutant() is None
