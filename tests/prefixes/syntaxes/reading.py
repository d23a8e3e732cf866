"""What a tool holds after it has read files of a syntax, by parsers that know little else.

Each takes what the tool held before: prefixes by the name of their set. It asserts what the tool
would refuse.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from ipaddress import IPv4Network, ip_network

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
        found = re.fullmatch(r"-([AD]) geolookup -([46]) -s (\S+) -j DROP", rule)
        assert found is not None
        verb, family, prefix = found.groups()
        assert _family(prefix) == int(family)
        assert (prefix in held["geolookup"]) is (verb == "D")
        held["geolookup"] ^= {prefix}
    return held


def nginx_geo(_before: Held, text: str) -> Held:
    found = re.fullmatch(r"geo \$geolookup \{\n    default 0;\n((?:    \S+ 1;\n)*)\}\n", text)
    assert found is not None
    return {"geolookup": frozenset(re.findall(r"(\S+) 1;", found[1]))}


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
    for verb, kind, place, prefix in map(str.split, text.splitlines()[1:-1]):
        assert (kind, place) == ("acl", "/etc/haproxy/geolookup.lst")
        assert (prefix in held) is (verb == "del")
        held ^= {prefix}
    return {"geolookup": held}


def bird(_before: Held, text: str) -> Held:
    held: Held = {}
    for statement in text.removesuffix(";\n").split(";\n") if text else ():
        found = re.fullmatch(r"define (\w+) = \[((?:\n\t\S+\+,)*(?:\n\t\S+\+)?)\n\]", statement)
        assert found is not None
        assert not found[2].endswith(",")
        held[found[1]] = frozenset(re.findall(r"(\S+)\+", found[2]))
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
