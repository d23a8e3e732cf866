"""The picture of a terminal session, ``terminal.svg``; ``docs.pictures`` makes it.

The commands run in a pseudo-terminal, on the bundled dataset. The picture shows their output as
the terminal does.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

PICTURE = Path(__file__).with_name("terminal.svg")
COLUMNS = 60
FILES = {"visits.csv": "id,ip\n1,8.8.8.8\n2,10.0.0.1\n3,2606:4700:4700::1111\n"}
SESSION = (
    "geolookup 8.8.8.8",
    "geolookup enrich visits.csv -o located.csv -f country,asn",
    "cat located.csv",
    "geolookup prefixes country=LI --family 4 | head -3",
)
_CELL, _LINE, _MARGIN = 8.4, 20, 18


class Run(NamedTuple):
    """Characters of one style that stand side by side, from a column on."""

    column: int
    style: str
    text: str


class Step(NamedTuple):
    """A command, and the lines that it prints."""

    command: str
    lines: list[list[Run]]


def record() -> list[Step]:
    """Run the commands of the session in a folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        return [Step(command, screen(printed(command, folder))) for command in SESSION]


def printed(command: str, folder: str) -> str:
    """Return what a command writes to a terminal, control sequences included."""
    scripts = Path(sys.executable).parent
    changes = {
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "TERM": "xterm-256color",
        "COLUMNS": str(COLUMNS),  # a value of the caller would win over the size
        "LC_ALL": "C.UTF-8",
        "GEOLOOKUP_DATASET": "",
        "GEOLOOKUP_STORE": folder,
        "GEOLOOKUP_AGE_NOTICE": "0",
    }
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    process = subprocess.Popen(  # noqa: S603 - a command of SESSION
        ["/bin/sh", "-c", command],
        cwd=folder,
        env={**os.environ, **changes},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    output = b"".join(_chunks(ours))
    os.close(ours)
    process.wait()
    return output.decode()


def _chunks(descriptor: int) -> Iterator[bytes]:
    with suppress(OSError):  # Linux: EIO when the last process has closed its side
        while chunk := os.read(descriptor, 65536):
            yield chunk


def screen(output: str) -> list[list[Run]]:
    """Return the lines that a terminal shows: of a line that is written again, the last text."""
    lines = output.replace("\r\n", "\n").split("\n")
    shown = [_runs(re.split("\r|\x1b\\[2?K", line)[-1]) for line in lines]
    return shown if shown[-1] else shown[:-1]


def _runs(line: str) -> list[Run]:
    """Split a line where its style changes, and around characters of more than one column."""
    runs, column, style = [], 0, ""
    for part in _PARTS.findall(line):
        if part.startswith("\x1b"):
            style = _STYLES.get(part[2:-1], "")
        else:
            runs.append(Run(column, style, part))
            column += sum(map(_width, part))
    return runs


#: A change of style, a flag (two characters), or other text.
_PARTS = re.compile("\x1b\\[[\\d;]*m|[\U0001f1e6-\U0001f1ff]{2}|[^\x1b\U0001f1e6-\U0001f1ff]+")
_STYLES = {"1": "bold", "31": "red", "32": "green", "33": "yellow", "36": "cyan"}


def _width(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def svg(steps: Sequence[Step]) -> str:
    """Draw the session. Its texts are selectable, and its description is the session itself."""
    body, row = [], 0
    for command, lines in steps:
        body += [_text(0, row, "prompt", "$"), _text(2, row, "command", command)]
        for at, runs in enumerate(lines, row + 1):
            body += [_text(run.column, at, run.style, run.text) for run in runs]
        row += len(lines) + 1
    width, height = round(COLUMNS * _CELL) + 2 * _MARGIN, row * _LINE + 44 + _MARGIN
    description = escape("\n".join(shown(steps)))
    return _FRAME.format(width=width, height=height, description=description, body="\n".join(body))


def _text(column: int, row: int, style: str, text: str) -> str:
    x, y = _MARGIN + column * _CELL, 44 + row * _LINE + 14
    kind = f' class="{style}"' if style else ""
    return f'<text x="{x:.1f}" y="{y}"{kind} xml:space="preserve">{escape(text)}</text>'


def shown(steps: Sequence[Step]) -> list[str]:
    """Return the lines of the session as text."""
    return [
        line
        for command, lines in steps
        for line in (f"$ {command}", *("".join(run.text for run in runs) for runs in lines))
    ]


_FRAME = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" \
height="{height}" role="img" aria-labelledby="title description">
<title id="title">A terminal session with geolookup</title>
<desc id="description">{description}</desc>
<style>
text {{ font: 14px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; \
fill: #e6edf3; }}
.prompt {{ fill: #7ee787; }}
.command, .bold {{ font-weight: bold; }}
.red {{ fill: #ff9a92; }}
.green {{ fill: #7ee787; }}
.yellow {{ fill: #f2cc60; }}
.cyan {{ fill: #79c0ff; }}
</style>
<rect width="100%" height="100%" rx="10" fill="#0d1117" stroke="#6e7681"/>
<circle cx="22" cy="20" r="6" fill="#ff5f57"/>
<circle cx="42" cy="20" r="6" fill="#febc2e"/>
<circle cx="62" cy="20" r="6" fill="#28c840"/>
{body}
</svg>
"""
