"""The hint for an unknown option, from the options and arguments of all commands."""

from __future__ import annotations

import click

from geolookup.cli.registry import COMMANDS, load
from geolookup.errors import near_word, suggestion

#: The most options, or commands, that a hint names.
_NAMED = 2
#: Names of values that many options have.
_GENERAL = {"path", "file", "dir", "name"}
#: The similarity of a misspelt option to the option that is meant; '--key' is not '--keep'.
_SIMILAR = 0.7


def option_hint(option: str, command: click.Command, example: str) -> str:
    """Return the option or argument that is meant, or ``example`` if none is similar.

    The text of the option's value is unknown here.
    """
    word = option.lstrip("-")
    hints = _by_value(word, command), _by_argument(word, command), _elsewhere(option)
    if hint := next(filter(None, hints), None):
        return _with_example(hint, example)
    own = {longest(one).lstrip("-"): one for one in options_of(command)}
    names = _with_words(word, own) or _by_metavar(word, own)
    if 0 < len(names) <= _NAMED:
        return suggestion(*(f"--{name}" for name in names))
    if hint := _by_field(word, command):
        return _with_example(hint, example)
    near = None if names else near_word(word, own, cutoff=_SIMILAR)
    return example if near is None else suggestion(f"--{near}")


def _with_example(hint: str, example: str) -> str:
    """Return a hint with the example after it, unless it is a suggestion or has an example."""
    return hint if hint.endswith("?") or "example: " in hint else f"{hint}; {example}"


def _by_value(word: str, command: click.Command) -> str | None:
    """``--json`` is ``--format json`` in some commands; ``--format`` is ``--json`` in others."""
    own = options_of(command)
    for one in own:
        if word in getattr(one.type, "choices", ()):
            return suggestion(f"{longest(one)} {word}")
    everywhere = (one for name in COMMANDS for one in options_of(load(name)))
    same = (one for one in everywhere if longest(one) == f"--{word}")
    choices = {choice for one in same for choice in getattr(one.type, "choices", ())}
    flags = (longest(one) for one in own if one.is_flag)
    return next((suggestion(flag) for flag in flags if flag[2:] in choices), None)


def _by_argument(word: str, command: click.Command) -> str | None:
    """``--store DIR`` is the argument STORE of some commands."""
    for one in command.params:
        if isinstance(one, click.Argument) and word.upper() in (
            one.name.upper(),
            argument_name(one),
        ):
            return f"write {argument_name(one)} without it"
    return None


def _elsewhere(option: str) -> str | None:
    """Return the commands that have exactly this option, unless many have it."""
    having = [name for name in COMMANDS if option in map(longest, options_of(load(name)))]
    if not 0 < len(having) <= _NAMED:
        return None
    return f"try {' or '.join(having)}; example: {getattr(load(having[0]), 'example', '')}"


def _with_words(word: str, names: dict[str, click.Option]) -> list[str]:
    """Return the names that have all words of ``word``, or the other way round."""
    words = set(word.split("-"))
    return [
        name for name in names if words >= set(name.split("-")) or words <= set(name.split("-"))
    ]


def _by_metavar(word: str, own: dict[str, click.Option]) -> list[str]:
    """Return the options whose value has the name: ``--allow-origin`` is ``--cors ORIGIN``."""
    last = word.rpartition("-")[2]
    if last in _GENERAL or any(last in name.split("-") for name in own):
        return []
    return [name for name, one in own.items() if one.metavar == last.upper()]


def _by_field(word: str, command: click.Command) -> str | None:
    """``--asn 15169`` is the condition ``asn=15169``, or one of the fields to write."""
    from geolookup.contract.fields import GROUPS, NAMES

    field = word.replace("-", "_")
    if field not in NAMES or field in GROUPS:
        return None
    names = {argument_name(one): "" for one in command.params if isinstance(one, click.Argument)}
    if "CONDITION" in names:
        return f"write the condition {field}=VALUE"
    own = list(map(longest, options_of(command)))
    if "--where" in own:
        return f"write --where {field}=VALUE"
    return suggestion(f"--fields {field}") if "--fields" in own else None


def options_of(command: click.Command) -> list[click.Option]:
    """Return the options of a command that its help shows."""
    parameters = command.params
    return [one for one in parameters if isinstance(one, click.Option) and not one.hidden]


def longest(option: click.Option) -> str:
    """Return the long name of an option."""
    return max(option.opts, key=len)


def argument_name(argument: click.Parameter) -> str:
    """Return the name of an argument as the help writes it, without brackets."""
    return (argument.metavar or str(argument.name).upper()).strip("[].")
