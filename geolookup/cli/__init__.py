"""The command line: the program, its errors and its signals.

Strategy: commands do not handle the errors of the library. Only this module turns an error
into one line on standard error and the exit status 2.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from _thread import interrupt_main
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from threading import Timer
from typing import TYPE_CHECKING, Any, NoReturn

import click

import geolookup
from geolookup.cli.command import Sections
from geolookup.cli.registry import COMMANDS
from geolookup.errors import GeoLookupError, line_text, name_text
from geolookup.terminal import filter_terminals

if TYPE_CHECKING:
    from pathlib import Path

    from geolookup.engine import Engine

MISUSE = 2
#: The exit status that a shell reports for a program that SIGPIPE ended.
_BROKEN_PIPE = 141
#: Errors of writing: to a full disk, beyond a quota or a limit, or to a damaged disk.
_UNWRITABLE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
_OUTPUT_PROBLEM = "standard output cannot be written ({})"
_MORE_MEMORY = "free some, or raise the limit of the process (ulimit -v, or its container's)"
#: Options of the program itself; others before an address are options of ``lookup``.
_OWN_OPTIONS = "-h", "--help", "--version"
#: With this Click 8.2 and later show the help of a group without a command.
_HELP = getattr(click.exceptions, "NoArgsIsHelpError", ())
_SIGNALS = signal.SIGTERM, signal.SIGINT
#: Seconds until a signal is handled again.
_REPEAT = 0.5


class _Program(Sections):
    """The program; its arguments may begin with an address, and errors of use are one line."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _closed_pipe(), _one_line_misuse():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _closed_pipe(), _one_line_misuse():
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in COMMANDS and args[0] not in _OWN_OPTIONS:
            from geolookup.cli.first_argument import with_implied_command

            args = with_implied_command(args, is_typed=ctx.resilient_parsing)
        return super().parse_args(ctx, args)


@contextmanager
def _closed_pipe() -> Iterator[None]:
    """Hide the error number of a closed pipe: for EPIPE, Click would exit with status 1."""
    try:
        yield
    except BrokenPipeError as error:
        raise BrokenPipeError from error


@contextmanager
def _one_line_misuse() -> Iterator[None]:
    """Exit with status 2 and one line for an error of use; Click would print three."""
    try:
        yield
    except click.UsageError as error:
        if isinstance(error, _HELP):
            raise
        from geolookup.cli.misuse import problem

        fail(problem(error))


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"], "color": True})
@click.version_option(geolookup.__version__, prog_name="geolookup")
def _program() -> None:
    """Look up the location, time, currency and network of IP addresses, offline.

    An address needs no command. `geolookup COMMAND --help` shows an example of a
    command, then its options.

    Example: geolookup 8.8.8.8
    """


def main() -> None:
    """Run the program and exit: 0 success, 1 an answer that is an error, 2 misuse or bad input."""
    filter_terminals()
    try:
        with _one_line_errors():
            _program.main(prog_name="geolookup")
    finally:
        _flush()
        for number in _SIGNALS:  # from here on nothing is left to remove
            if signal.getsignal(number) is _exit:
                signal.signal(number, signal.SIG_DFL)


def _flush() -> None:
    """Flush standard output; exits with the status of a closed pipe or an error if it fails."""
    if not sys.stdout:  # a process may be started without it
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        discard_output()
        sys.exit(_BROKEN_PIPE)
    except OSError as error:
        discard_output()
        fail(_OUTPUT_PROBLEM.format(error.strerror))


def discard_output() -> None:
    """Prevent a second error when Python flushes standard output at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _one_line_errors() -> Iterator[None]:
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
        _flush()  # of a standard output that is full this names the reason
        # The errors of other outputs name a file, and BuildError, OutputError name theirs.
        is_output = error.filename is None and error.errno in _UNWRITABLE
        fail(_OUTPUT_PROBLEM.format(error.strerror) if is_output else str(error))


def require_output(remedy: str) -> None:
    """Fail if there is no standard output: a process may be started without it."""
    if sys.stdout is None:
        fail(f"standard output is closed; {remedy}")


def fail(message: str) -> NoReturn:
    """Print one line on standard error and exit with status 2."""
    click.echo(f"geolookup: {message}", err=True)
    sys.exit(MISUSE)


def print_sizes(paths: Iterable[Path], *, err: bool = False) -> None:
    """Print the size of each file that was written, on standard error with ``err``."""
    for path in paths:
        click.echo(f"{name_text(str(path))}: {path.stat().st_size:,} bytes", err=err)


def json_text(document: object, default: Callable[[Any], object] | None = None) -> str:
    """Return indented JSON, non-ASCII unescaped.

    ``default`` makes JSON values of others, as in ``json.dumps``.
    """
    return json.dumps(document, ensure_ascii=False, indent=2, default=default)


def note_age(engine: Engine) -> None:
    """Print one line on standard error if the data are older than 180 days, but not of the past."""
    from geolookup.store.requirements import age_notice

    if click.get_current_context().meta.get("geolookup.as_of") is not None:
        return
    notice = age_notice(engine.snapshot().dataset)
    if notice is not None:
        click.echo(f"geolookup: {notice}", err=True)


def exit_on_signals() -> None:
    """Exit on SIGTERM and Ctrl-C through SystemExit, to remove unfinished files."""
    for number in _SIGNALS:
        signal.signal(number, _exit)
    sys.unraisablehook = _without_exit


def _exit(number: int, _frame: object) -> None:
    """Raise SystemExit, and again until the program ends.

    Python drops it in a destructor and in code that a library's C++ calls.
    """
    with suppress(RuntimeError):  # the interpreter ends already
        again = Timer(_REPEAT, interrupt_main, (number,))
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
