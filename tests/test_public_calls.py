"""The commands as calls: the same options, the same errors, nothing loaded beforehand."""

from __future__ import annotations

import inspect
import logging
import pydoc
import re
from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest

import geolookup
from geolookup.integrations.logs import GeoFilter
from tests.cli import program
from tests.cli.command_tree import tree
from tests.datasets import SMALL

#: The commands of these calls are in groups.
TYPED = {
    **{name: f"store {name}" for name in ("generations", "prune", "publish", "rollback", "verify")},
    **{name: f"mirror {name}" for name in ("pack", "sign", "unpack")},
    "mirror": "mirror write",
}
CALLS = (
    *("build", "check", "diff", "generations", "mirror", "pack", "prune", "publish", "rollback"),
    *("score", "sign", "unpack", "update", "verify"),
)
#: Arguments of the commands with required options.
ARGUMENTS = {
    "sign": ["--signing-key", "x"],
    "pack": ["--output", "x"],
    "mirror": ["--output", "x"],
    "unpack": ["x", "--output", "x"],
    "build": ["x", "--output", "x"],
    "score": ["--truth", "x"],
}
#: The objects of commands: a command may leave them out, a call passes None.
OBJECTS = {"dataset", "store"}
#: Keywords for objects in Python: a command names a recipe.
OF_PYTHON = {
    "build": {"sources", "columns", "name", "fields"},
    "check": {"sources", "columns"},
}
#: Options for output that a call returns, and for the path of the past, which ``open`` gives.
OF_COMMANDS = {"as_json", "as_of", "new_as_of"}
#: Options of commands for which Python has another call: ``diff_table``.
OF_OTHER_CALLS = {
    "diff": {"rows", "where", "not_", "paths", "force"},
    "update": {"every"},  # a loop around the call
}
RECIPE = '[dataset]\nname = "calls"\n[[source]]\nformat = "csv"\npath = "a.csv"\n'


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text("network,isp\n8.8.8.0/24,one\n", encoding="utf-8")
    path = tmp_path / "recipe.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


def rewrite(recipe: Path, isp: str) -> None:
    text = f"network,isp\n8.8.8.0/24,{isp}\n"
    (recipe.parent / "a.csv").write_text(text, encoding="utf-8")


# --- the calls, for real


def test_build_and_its_options(recipe: Path, tmp_path: Path) -> None:
    report = geolookup.build(str(recipe), str(tmp_path / "data"))
    with geolookup.open(tmp_path / "data") as engine:
        assert engine.get("8.8.8.8", "network.isp") == "one"
        assert engine.generation == report.generation
    assert report.bytes == sum(path.stat().st_size for path in (tmp_path / "data").iterdir())
    with pytest.raises(geolookup.errors.OutputError, match="exists already"):
        geolookup.build(recipe, tmp_path / "data")
    rewrite(recipe, "two")
    again = geolookup.build(recipe, tmp_path / "data", force=True)
    assert again.generation != report.generation
    with pytest.raises(ValueError, match="max_rejected"):
        geolookup.build(recipe, tmp_path / "third", max_rejected=-1)


def test_check_reports_what_the_command_prints(recipe: Path, tmp_path: Path) -> None:
    bad = recipe.parent / "a.csv"
    bad.write_text("network,isp\nnowhere,x\n8.8.8.0/24,one\n", encoding="utf-8")
    report = geolookup.check(recipe, cache=str(tmp_path / "cache"))
    assert report.has_problem
    assert [row.line for row in report.sources[0].bad_rows] == [2]
    report = geolookup.check(str(recipe), max_rejected=1)
    assert not report.has_problem
    printed = program.run("check", str(recipe), "--max-rejected", "1").stdout
    memory = re.compile(r"about [\d.]+ GB")  # of each process
    assert memory.sub("", "\n".join(report.lines()) + "\n") == memory.sub("", printed)
    with pytest.raises(geolookup.errors.BuildError, match="neither a file nor"):
        geolookup.check(tmp_path / "none")
    with pytest.raises(ValueError, match="max_rejected"):
        geolookup.check(recipe, max_rejected=-1)


def test_calls_take_texts_as_paths(recipe: Path, tmp_path: Path) -> None:
    """Each is the function that the tests of its part call with paths."""
    data, store, archive, again = (
        str(tmp_path / name) for name in ("data", "store", "data.tar.zst", "again")
    )
    generation = geolookup.build(str(recipe), data).generation
    assert geolookup.publish(data, store).generation == generation
    assert [item.generation for item in geolookup.generations(store)] == [generation]
    assert geolookup.pack(data, archive) == Path(archive).stat().st_size
    geolookup.unpack(archive, again)
    assert geolookup.verify(again).generation == generation
    rewrite(recipe, "two")
    geolookup.build(recipe, data, force=True)
    traffic = recipe.parent / "t.csv"
    traffic.write_text("ip,hits\n8.8.8.8,7\n", encoding="utf-8")
    weighed = geolookup.diff(again, data, traffic=str(traffic), traffic_count="hits", top=0)
    assert weighed.parts["ipv4"].fields["network.isp"].changed == 7
    wrong: tuple[tuple[type[Exception], str, Any], ...] = (
        (geolookup.errors.TableFileError, "no column 'ip'", {"traffic": traffic, "header": False}),
        (ValueError, "did you mean 'csv'", {"traffic": traffic, "input_format": "cvs"}),
        (ValueError, "top", {"top": -1}),
    )
    for error, match, options in wrong:
        with pytest.raises(error, match=match):
            geolookup.diff(again, data, **options)


# --- commands and calls


def parameters(call: Any) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(call).parameters


def test_commands_take_what_their_calls_take() -> None:
    commands = dict(tree())
    for name in CALLS:
        call = getattr(geolookup, name)
        command = commands[TYPED.get(name, name)]
        stated = {
            parameter.name: parameter
            for parameter in command.params
            if parameter.name not in OF_COMMANDS | OF_OTHER_CALLS.get(name, set())
        }
        of_python = OF_PYTHON.get(name, set())
        taken = {key: value for key, value in parameters(call).items() if key not in of_python}
        assert of_python < set(parameters(call)), name
        assert set(stated) == set(taken), name
        required = [str(value.name) for value in stated.values() if value.required]
        # Python's own keywords may stand for a required argument: its default is then None.
        defaults = {
            value.name: value.default
            for value in taken.values()
            if value.default is not value.empty and not (of_python and value.name in required)
        }
        needed = [item for item in taken if item not in defaults and item not in OBJECTS]
        assert required == needed, name
        arguments = ARGUMENTS.get(name, ["."] * len(required))
        parsed = command.make_context(name, [*arguments]).params
        assert {default: parsed[default] for default in defaults} == defaults, name
        assert "Error" in (inspect.getdoc(call) or ""), name
        assert name in geolookup.__all__
        assert name in dir(geolookup)
        assert inspect.signature(call).return_annotation is not inspect.Signature.empty, name


# --- what ``help`` and editors show


def test_the_default_engine_takes_what_an_engine_takes() -> None:
    """And ``help`` shows the same text."""
    for name in ("answer", "get", "lookup", "lookup_json", "own"):
        call, method = getattr(geolookup, name), getattr(geolookup.Engine, name)
        stated, of_method = (
            [(item.name, item.kind, item.default) for item in parameters(one).values()]
            for one in (call, method)
        )
        assert of_method[0][0] == "self"
        assert stated == of_method[1:]
        text = inspect.getdoc(method) or ""
        assert text.startswith("Return the ")
        assert pydoc.plain(pydoc.render_doc(call)).count(text.splitlines()[0]) == 1
        assert inspect.getdoc(call) == text


def test_the_public_names_and_a_misspelt_one() -> None:
    assert dir(geolookup) == sorted(geolookup.__all__)
    module: Any = geolookup
    for name, hint in (
        ("lokup", "did you mean 'lookup'?"),
        ("get_many", "an engine has it: geolookup.open().get_many"),
        ("BuildError", "it is geolookup.errors.BuildError"),
        ("Reader", "geolookup.open() opens a dataset, dir(geolookup) lists the names"),
    ):
        with pytest.raises(AttributeError) as caught:
            getattr(module, name)
        assert str(caught.value) == f"module 'geolookup' has no attribute {name!r}; {hint}"
    with pytest.raises(AttributeError, match=r"has no attribute '__path'$"):
        module.__getattr__("__path")


# --- imports


def test_calls_load_when_they_are_used() -> None:
    code = """
import sys, geolookup
before = set(sys.modules)
dir(geolookup)
assert not {'numpy', 'click', 'geolookup_builder', 'geolookup.integrity'} & before
geolookup.generations
assert 'geolookup.history.generations' in sys.modules
assert 'geolookup_builder' not in sys.modules and 'numpy' not in sys.modules
assert geolookup.generations is geolookup.__dict__['generations']
"""
    program.python(code)

    shown = pydoc.render_doc(geolookup, renderer=pydoc.plaintext)  # type: ignore[attr-defined]
    for call in ("build(recipe: ", "pack(dataset: ", "verify(dataset: ", "diff(old: "):
        assert call in shown


@pytest.mark.parametrize("kernel", ["python", ""])
def test_the_calls_of_the_package_open_the_default_dataset(kernel: str) -> None:
    """They are calls of a kernel, without functions around them; processes can send them."""
    done = program.python(
        """
import copy, geolookup, os, pickle, sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

opened, barrier, real = [], Barrier(8), geolookup.open
def slowly():
    barrier.wait()
    opened.append(real())
    return opened[-1]
geolookup.open = slowly

calls = {name: getattr(geolookup, name) for name in ("get", "answer", "lookup", "lookup_json")}
sent = {name: pickle.dumps(call) for name, call in calls.items()}
assert not opened
with ThreadPoolExecutor(8) as pool:
    assert set(pool.map(lambda _: geolookup.get("8.8.8.8", "country"), range(8))) == {"US"}
assert len(opened) == 8
engine, = {geolookup._default.engine() for _ in range(2)}
assert engine in opened
def same():
    for name, call in calls.items():
        for one in (call, pickle.loads(sent[name]), copy.copy(call)):
            for ip in ("8.8.8.8", "10.0.0.1", "x"):
                if name == "get":
                    assert one(ip, "asn", at=0) == engine.get(ip, "asn", at=0)
                else:
                    assert str(one(ip, at=0)) == str(getattr(engine, name)(ip, at=0))
same()
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
same()
""",
        GEOLOOKUP_KERNEL=kernel,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_error_of_arguments_names_the_public_class(sample: geolookup.Engine) -> None:
    for name in ("prefixes", "prefix_table", "export", "explain", "get_many"):
        call: Any = getattr(sample, name)
        with pytest.raises(TypeError, match=rf"^Engine\.{name}\(\) "):
            call(*range(9), nonsense=1)


@pytest.mark.parametrize("name", ["location.country_code", "country_code", "country"])
def test_every_call_takes_every_name_of_a_field(
    sample: geolookup.Engine,
    tmp_path: Path,
    name: Literal["location.country_code", "country_code", "country"],
) -> None:
    ip, networks, column = "8.8.8.8", [ip_network("8.8.8.0/24")], "location_country_code"
    assert (sample.get(ip, name), sample.get(ip, name, "asn")) == ("US", ("US", 15169))
    assert sample.get_many([ip], name) == ["US"]
    assert sample.enrich(pa.table({"ip": [ip]}), name).column_names == ["ip", column]
    assert [*sample.prefixes({name: "US"}, within="8.8.8.0/24")] == networks
    [(_, values)] = sample.prefixes(f"{name}=US", within="8.8.8.0/24", by=(name,))
    assert values == ("US",)
    sample.export(tmp_path / "a.csv", fields=[name])
    assert column in (tmp_path / "a.csv").read_text(encoding="utf-8")
    with geolookup.diff_table(SMALL, SMALL, name) as changes:
        assert f"{column}_after" in changes.schema.names
    record = logging.makeLogRecord({"address": ip})
    assert GeoFilter("address", {"land": name}, engine=sample).filter(record)
    assert vars(record)["land"] == "US"
    source = pa.table({"network": ["8.8.8.0/24"], name: ["US"]})
    geolookup.build(sources=[source], fields=[name], output=tmp_path / "built")
    with geolookup.open(tmp_path / "built") as engine:
        assert engine.get(ip, "country") == "US"
    for words in (
        ("lookup", "-f", name, ip),
        ("prefixes", f"{name}=US", "--by", name, "--format", "csv"),
        ("diff", str(SMALL), str(SMALL), "--fail-if", f"null_gained.{name}>1%"),
    ):
        assert program.run(*words).returncode == 0, words
