"""The command line: its start, its errors and its signals.

Strategy: commands do not handle errors of the library, nor signals. Only this module turns an
error into one line on standard error and the exit status 2, and SIGTERM and Ctrl-C into an exit
that removes unfinished files. ``program`` has the commands. They need Click. ``geolookup IP`` has
no options, and starts without Click.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from _thread import interrupt_main
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import TYPE_CHECKING, Any, NoReturn

from geolookup.contract.address import is_address
from geolookup.errors import GeoLookupError, line_text
from geolookup.kernel.lookups import state_of
from geolookup.terminal import filter_terminals

if TYPE_CHECKING:
    from pathlib import Path

    from geolookup.engine import Engine

MISUSE = 2
#: The exit status that a shell reports for a program that SIGPIPE ended.
_BROKEN_PIPE = 141
#: Errors of writing: to a full disk, beyond a quota or a limit, or to a damaged disk.
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
_MORE_MEMORY = "free some, or raise the limit of the process (ulimit -v, or its container's)"
_SIGNALS = signal.SIGTERM, signal.SIGINT
#: Seconds until a signal is handled again.
REPEAT = 0.5


def main() -> None:
    """Run the program and exit: 0 success, 1 an answer that is an error, 2 misuse or bad input."""
    arguments = sys.argv[1:]
    filter_terminals()
    if arguments[:1] != ["serve"]:  # the server has its own
        exit_on_signals()
    try:
        with _one_line_errors():
            if len(arguments) == 1 and is_address(arguments[0]):
                from geolookup.cli.answers import answer_one

                answer_one(arguments[0])
            else:
                from geolookup.cli.program import program
                from geolookup.progress import shown

                with shown():
                    program.main(prog_name="geolookup")
    finally:
        with _one_line_errors():
            if sys.stdout:  # a process may be started without it
                sys.stdout.flush()
        for number in _SIGNALS:  # from here on nothing is left to remove
            if signal.getsignal(number) is _exit:
                signal.signal(number, signal.SIG_DFL)


def discard_output() -> None:
    """Prevent a second error when Python flushes standard output at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """End the program with one line for an error, and no traceback."""
    try:
        yield
    except GeoLookupError as error:
        fail(str(error))
    except BrokenPipeError:
        discard_output()
        sys.exit(_BROKEN_PIPE)
    except MemoryError as error:  # also numpy's and Arrow's
        detail = f" ({line_text(str(error))})" if str(error) else ""
        fail(f"out of memory{detail}; {_MORE_MEMORY}")
    except OSError as error:
        # The errors of other outputs name a file, and BuildError, OutputError name theirs.
        if error.filename is not None or error.errno not in _UNWRITABLE:
            fail(str(error))
        discard_output()
        fail(f"standard output cannot be written ({os.strerror(error.errno)})")


def require_output(remedy: str) -> None:
    """Fail if there is no standard output: a process may be started without it."""
    if sys.stdout is None:
        fail(f"standard output is closed; {remedy}")


def say(text: str, *, err: bool = True) -> None:
    """Print a text and a line feed on standard error, or with ``err=False`` on standard output."""
    stream = sys.stderr if err else sys.stdout
    if stream is not None:  # a process may be started without it
        print(text, file=stream, flush=True)


def fail(message: str) -> NoReturn:
    """Print one line on standard error and exit with status 2."""
    say(f"geolookup: {message}")
    sys.exit(MISUSE)


def print_sizes(paths: Iterable[Path], *, err: bool = False) -> None:
    """Print the size of each file that was written, on standard error with ``err``."""
    for path in paths:
        say(f"{line_text(str(path))}: {path.stat().st_size:,} bytes", err=err)


def text_of(lines: Iterable[str]) -> str:
    """Return lines as one text, in which each stays a line."""
    return "\n".join([line_text(line) for line in lines])


def json_text(document: object) -> str:
    """Return indented JSON, non-ASCII unescaped; dataclasses are objects."""
    return json.dumps(document, ensure_ascii=False, indent=2, default=_json_value)


def _json_value(value: Any) -> object:
    from dataclasses import fields, is_dataclass  # its import takes long

    is_object = is_dataclass(value)
    return {of.name: getattr(value, of.name) for of in fields(value)} if is_object else str(value)


def note_age(engine: Engine) -> None:
    """Print one line on standard error if the data are older than 180 days."""
    from geolookup.store.requirements import age_notice

    notice = age_notice(state_of(engine).dataset)
    if notice is not None:
        say(f"geolookup: {notice}")


def exit_on_signals() -> None:
    """Exit on SIGTERM and Ctrl-C through SystemExit: ``with`` and ``finally`` remove files."""
    for number in _SIGNALS:
        signal.signal(number, _exit)
    sys.unraisablehook = _without_exit


def _exit(number: int, _frame: object) -> None:
    """Raise SystemExit, and again until the program ends.

    Python drops it in a destructor and in code that a library's C++ calls.
    """
    with suppress(RuntimeError):  # the interpreter ends already
        again = Timer(REPEAT, interrupt_main, (number,))
        again.daemon = True
        again.start()
    if not _is_exiting(sys.exception()):
        sys.exit(128 + number)


def _is_exiting(error: BaseException | None) -> bool:
    """Tell whether a SystemExit is on its way: what removes files must not be interrupted."""
    while error is not None and not isinstance(error, SystemExit):
        error = error.__context__
    return error is not None


def _without_exit(lost: sys.UnraisableHookArgs) -> None:
    """Report a lost exception, unless it is the SystemExit that is raised again."""
    if not isinstance(lost.exc_value, SystemExit):
        sys.__unraisablehook__(lost)
