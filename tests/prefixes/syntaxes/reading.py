"""Lists of prefixes, their texts in each syntax, and small parsers that stand for the tools.

A parser takes the prefixes that the tool held before, by the name of their set, and returns those
that it holds after. It fails for input that the tool would refuse.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from ipaddress import IPv4Network, ip_address, ip_network

import pyarrow as pa

from tests.internals.prefixes import SYNTAXES, Lists, checked_names

USUAL = checked_names()


def drawn(seed: int, size: int) -> dict[int, list[str]]:
    """Disjoint prefixes of both families in address order."""
    chance = random.Random(seed)
    return {4: _drawn(chance, 4, 24, 1 << 24, size), 6: _drawn(chance, 6, 48, 0x2A << 120, size)}


def _drawn(chance: random.Random, family: int, usual: int, start: int, size: int) -> list[str]:
    bits, actual, at = (32 if family == 4 else 128), list[str](), start
    for _ in range(size):
        length = chance.choice((usual - 4, usual - 1, usual, usual, usual + 1, bits))
        step = 1 << bits - length
        at = -(-at // step) * step
        actual.append(
            f"{ip_address(at) if family == 4 else ip_network((at, bits)).network_address}/{length}"
        )
        at += step * chance.choice((1, 1, 2, 5))
    return actual


def lists(prefixes: dict[int, list[str]], batch: int = 7) -> Lists:
    """The prefixes as the syntaxes take them, in batches."""
    return {
        family: [
            pa.array(texts[start : start + batch], pa.string())
            for start in range(0, len(texts), batch)
        ]
        for family, texts in prefixes.items()
    }


def _without(some: dict[int, list[str]], others: dict[int, list[str]]) -> dict[int, list[str]]:
    return {
        family: [text for text in texts if text not in set(others[family])]
        for family, texts in some.items()
    }


def whole_text(name: str, prefixes: dict[int, list[str]], names: dict[str, str] = USUAL) -> str:
    return _text(SYNTAXES[name].text(lists(prefixes), names))


def changes_text(
    name: str,
    old: dict[int, list[str]],
    new: dict[int, list[str]],
    names: dict[str, str] = USUAL,
) -> str:
    return _text(SYNTAXES[name].text(lists(_without(new, old)), names, lists(_without(old, new))))


def _text(blocks: Iterable[bytes]) -> str:
    return b"".join(blocks).decode("ascii")


#: The prefixes of each set by its name.
Held = dict[str, frozenset[str]]


def _family(prefix: str) -> int:
    return ip_network(prefix).version


def nft(before: Held, text: str) -> Held:
    held = dict(before)
    commands = re.sub(r"\{\s*([^}]*?)\s*\}", r"{\1}", text)
    for command in re.findall(r"^(?:[^{\n]|\{[^}]*\})+$", commands, re.MULTILINE):
        verb, kind, *words = command.split("{")[0].split()
        assert words[:2] == ["inet", "geolookup"]
        elements = frozenset(re.findall(r"[0-9a-f.:]+/\d+", command))
        if (verb, kind) == ("add", "table"):
            assert words == ["inet", "geolookup"]
        elif (verb, kind) == ("add", "set"):
            held.setdefault(words[2], frozenset())
        elif (verb, kind) == ("flush", "set"):
            held[words[2]] = frozenset()
        elif (verb, kind) == ("add", "element"):
            assert elements
            assert not elements & held[words[2]]
            held[words[2]] |= elements
        else:
            assert (verb, kind) == ("delete", "element")
            assert elements <= held[words[2]]
            held[words[2]] -= elements
    return held


def ipset(before: Held, text: str) -> Held:
    held = dict(before)
    for verb, name, *words in map(str.split, text.splitlines()):
        if verb == "create":
            assert words[-1] == "-exist"
            held.setdefault(name, frozenset())
        elif verb == "flush":
            held[name] = frozenset()
        elif verb == "add":
            held[name] |= {words[0]}
        elif verb == "del":
            held[name] -= {words[0]}
        elif verb == "swap":
            held[name], held[words[0]] = held[words[0]], held[name]
        else:
            assert verb == "destroy"
            del held[name]
    return held


def iptables(before: Held, text: str) -> Held:
    held = dict(before)
    table, *rules, commit = text.splitlines()
    assert (table, commit) == ("*filter", "COMMIT")
    for rule in rules:
        if rule == ":geolookup - [0:0]":
            held["geolookup"] = frozenset()
            continue
        match = re.fullmatch(r"-([AD]) geolookup -([46]) -s (\S+) -j DROP", rule)
        assert match is not None
        verb, family, prefix = match.groups()
        assert _family(prefix) == int(family)
        assert (prefix in held["geolookup"]) is (verb == "D")
        held["geolookup"] ^= {prefix}
    return held


def nginx_geo(_before: Held, text: str) -> Held:
    match = re.fullmatch(r"geo \$geolookup \{\n    default 0;\n((?:    \S+ 1;\n)*)\}\n", text)
    assert match is not None
    return {"geolookup": frozenset(re.findall(r"(\S+) 1;", match[1]))}


def plain(_before: Held, text: str) -> Held:
    lines = text.splitlines()
    assert all(map(_family, lines))
    return {"geolookup": frozenset(lines)}


def cidr(before: Held, text: str) -> Held:
    if text and text[0] not in "-+":
        return plain(before, text)
    held = before.get("geolookup", frozenset())
    for line in text.splitlines():
        assert (line[1:] in held) is (line[0] == "-")
        held ^= {line[1:]}
    return {"geolookup": held}


def haproxy(before: Held, text: str) -> Held:
    if not text.startswith("prompt\n"):
        return plain(before, text)
    assert text.endswith("\nquit\n")
    held = before["geolookup"]
    for verb, kind, acl, prefix in map(str.split, text.splitlines()[1:-1]):
        assert (kind, acl) == ("acl", "/etc/haproxy/geolookup.lst")
        assert (prefix in held) is (verb == "del")
        held ^= {prefix}
    return {"geolookup": held}


def bird(_before: Held, text: str) -> Held:
    held: Held = {}
    for statement in text.removesuffix(";\n").split(";\n") if text else ():
        match = re.fullmatch(r"define (\w+) = \[((?:\n\t\S+\+,)*(?:\n\t\S+\+)?)\n\]", statement)
        assert match is not None
        assert not match[2].endswith(",")
        held[match[1]] = frozenset(re.findall(r"(\S+)\+", match[2]))
    return held


def cisco(before: Held, text: str) -> Held:
    held, group = dict(before), ""
    for line in text.splitlines():
        if line.startswith("object-group "):
            _, kind, group = line.split()
            assert (kind == "v6-network") is group.endswith("_v6")
            held.setdefault(group, frozenset())
            continue
        *no, entry = line[1:].split(" ") if "v6" in group else _ipv4_entry(line[1:])
        assert (entry in held[group]) is (no == ["no"])
        held[group] ^= {entry}
    return held


def _ipv4_entry(line: str) -> list[str]:
    no, words = line.startswith("no "), line.removeprefix("no ").split()
    network = IPv4Network(words[1] if words[0] == "host" else tuple(words))
    assert (network.prefixlen == 32) is (words[0] == "host")
    return ["no", str(network)] if no else [str(network)]


READERS: dict[str, Callable[[Held, str], Held]] = {
    "cidr": cidr,
    "nft": nft,
    "ipset": ipset,
    "iptables": iptables,
    "nginx-geo": nginx_geo,
    "haproxy": haproxy,
    "pf": plain,
    "bird": bird,
    "cisco": cisco,
    "squid": plain,
}
