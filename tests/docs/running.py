"""Runs the examples of a page in order, as its reader would, in a folder of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path

from tests.docs.blocks import Block, Needs, sessions
from tests.docs.namespace import Namespace, Shell, environment, matches, namespace, shell
from tests.internals.builder import load
from tests.servers import free_port

#: The ports of the examples. Each stands for a free one.
_PORTS = re.compile(r"(?<=[ :=])(80(?:00|01|80))\b")
_RECIPE = '[dataset]\nname = "shown"\n'
_SOURCE = '[[source]]\nformat = "csv"\npath = "shown.csv"\n'


class Page:
    """A page that is read: its folder, shell and namespace."""

    def __init__(
        self, folder: Path, variables: Mapping[str, str], commands: Shell, ending: ExitStack
    ) -> None:
        self._folder = folder
        self._variables = variables
        self._shell = commands
        self._ending = ending
        self._namespace: Namespace | None = None
        self._ports: dict[str, str] = {}

    def prepare(self, script: str) -> None:
        """Run a script that makes what the page presumes."""
        status, printed = self._shell.run(script)
        assert status == 0, printed

    def run(self, block: Block) -> None:
        """Run a block by its kind; one of another kind fails."""
        text = _PORTS.sub(self._port, block.text)
        if block.name:
            self._write(block, text)
        else:
            RUNS[block.kind](self, block, text)

    def _port(self, match: re.Match[str]) -> str:
        return self._ports.setdefault(match[1], str(free_port()))

    def _write(self, block: Block, text: str) -> None:
        path = self._folder / block.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def console(self, block: Block, text: str) -> None:
        result = list(sessions(text))
        assert result, f"{block.position}: no command"
        for command, shown in result:
            status, printed = self._shell.run(command)
            assert matches(shown, printed), f"{block.position}: {command}\n{printed}"
            assert status == 0 or shown, f"{block.position}: {command}: status {status}"

    def script(self, block: Block, text: str) -> None:
        status, printed = self._shell.run(text)
        assert status == 0, f"{block.position}: status {status}\n{printed}"

    def crontab(self, block: Block, text: str) -> None:
        """Run the command of each line, behind the five fields of its time."""
        for line in text.splitlines():
            self.script(block, line.split(maxsplit=5)[5])

    def python(self, block: Block, text: str) -> None:
        if not self._namespace:
            self._namespace = self._ending.enter_context(namespace(self._folder, self._variables))
        differences = self._namespace.run(text, block.position)
        assert not differences, differences

    def recipe(self, block: Block, text: str) -> None:
        """A part of a recipe becomes a whole one."""
        whole = text if "[dataset]" in text else _RECIPE + text
        whole = whole if "[[source]]" in whole else whole + _SOURCE
        path = self._folder / f"shown-{block.line}.toml"
        path.write_text(whole, encoding="utf-8")
        assert load(path).sources

    def json(self, _block: Block, text: str) -> None:
        json.loads(text)


#: How a block without a name runs.
RUNS: dict[str, Callable[[Page, Block, str], None]] = {
    "console": Page.console,
    "bash": Page.script,
    "crontab": Page.crontab,
    "python": Page.python,
    "toml": Page.recipe,
    "json": Page.json,
}


def read(
    page_blocks: Iterable[Block], presumed: Needs, folder: Path, commands_in: Path | None = None
) -> None:
    """Run blocks in a reader's folder ``~/geo``, after a script that makes their files.

    The commands of a folder come before all others.
    """
    (folder / "outputs").mkdir()
    (folder / "home" / "geo").mkdir(parents=True)
    variables = {**environment(folder / "home", commands_in), **presumed.variables}
    with ExitStack() as ending:
        commands = ending.enter_context(
            shell(folder / "home" / "geo", folder / "outputs", variables)
        )
        page = Page(folder / "home" / "geo", variables, commands, ending)
        if presumed.script:
            page.prepare(presumed.script)
        for block in page_blocks:
            page.run(block)
