"""The syntaxes that lists of prefixes are written in: a table, and three special cases.

Changes add before they remove, if the tool accepts that: an address that stays in the list is in
it at every moment.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from geolookup.contract.address import canonical_ipv4
from geolookup.prefixes.list_text import Entries, Lists, Syntax

if TYPE_CHECKING:
    import pyarrow as pa

# /24 is 2^32 - 2^8: 255.255.255.0
_MASKS = [canonical_ipv4((1 << 32) - (1 << 32 - length)) for length in range(33)]
_LENGTHS = {b" " + mask.encode(): b"/%d" % length for length, mask in enumerate(_MASKS)}
_HOST = re.compile(rb"^ host ([0-9.]+)$", re.MULTILINE)
_MASKED = re.compile(rb"^ ([0-9.]+)( [0-9.]+)$", re.MULTILINE)


def _csv(lists: Lists) -> Iterator[bytes]:
    """Yield a header, and a line for each row; an unknown value is an empty cell."""
    import pyarrow as pa

    from geolookup.files.column_text import bytes_of, header_line, joined_cells

    batches = map(pa.RecordBatch.from_struct_array, chain.from_iterable(lists.values()))
    first = next(batches)
    yield header_line(first.schema.names, ",")
    for batch in chain([first], batches):
        lines = joined_cells(batch.columns, ",", b"\n")
        yield bytes_of(lines).to_pybytes()


def _objects(_family: int, rows: pa.Array) -> pa.Array:
    """Return an object of JSON for each row; an unknown value is null."""
    from geolookup.files.column_text import json_texts

    return json_texts(rows)


def _with_masks(family: int, prefixes: pa.Array) -> pa.Array:
    """Return ``1.0.0.0 255.255.255.0`` for ``1.0.0.0/24``, and ``host 1.0.0.1`` for an address."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if family == 6:
        return prefixes
    halves = pc.split_pattern(prefixes, "/")
    addresses = pc.list_element(halves, 0)
    lengths = pc.list_element(halves, 1).cast(pa.int8())
    masked = pc.binary_join_element_wise(addresses, pa.array(_MASKS).take(lengths), " ")
    hosts = pc.binary_join_element_wise("host", addresses, " ")
    return pc.if_else(pc.equal(lengths, 32), hosts, masked)


def _without_masks(content: bytes) -> bytes:
    """Return a list in which hosts and IPv4 networks with a mask are prefixes."""
    with_lengths = _HOST.sub(rb"\1/32", content)
    return _MASKED.sub(lambda match: match[1] + _LENGTHS.get(match[2], match[2]), with_lengths)


def _nft(command: str, *, removed: bool = False) -> Entries:
    """Return the elements of a set, in commands of at most 10,000.

    To load 100,000 elements, nft 1.0.6 takes half as long again in commands of 1,000, and not
    less time in a single command.
    """
    line = f"{command} element inet $table $set {{\n"
    return Entries("\t$prefix,\n", removed, limit=10_000, command=(line, "}\n"))


_LINES = (Entries("$prefix\n"),)
#: All sets of a name have the same limit, because ``create -exist`` refuses a set that was created
#: with another. The kernel enlarges the hash table by itself.
_HASH = f"hash:net family $kind maxelem {1 << 24} -exist\n"
_RULE = "$name -$family -s $prefix -j $target\n"
_GROUP = "object-group $kind $set\n"
_SYNTAXES = (
    Syntax("cidr", _LINES, (Entries("-$prefix\n", removed=True), Entries("+$prefix\n"))),
    Syntax("range", _LINES, entries="range"),
    Syntax("csv", entries="row", write=_csv),
    Syntax(
        "json", ("[", Entries("\n$prefix", separator=","), "\n]\n"), entries="row", adapt=_objects
    ),
    # ``nft -f`` applies a file as a whole. The prefixes of a list are disjoint, so the sets need
    # no auto-merge; without it each element stays a prefix that a later file can delete.
    # Changes delete first: the kernel refuses an element that overlaps another.
    Syntax(
        "nft",
        (
            "add table inet $table\n",
            (
                "add set inet $table $set { type ipv${family}_addr; flags interval; }\n",
                "flush set inet $table $set\n",
                _nft("add"),
            ),
        ),
        (_nft("delete", removed=True), _nft("add")),
    ),
    # ``ipset restore`` takes effect line by line. So a list fills a second set, and ``swap``
    # exchanges it for the first at once. With -exist changes can be applied again after a failure.
    Syntax(
        "ipset",
        (
            (
                f"create $set {_HASH}create ${{set}}_new {_HASH}flush ${{set}}_new\n",
                Entries("add ${set}_new $prefix\n"),
                "swap $set ${set}_new\ndestroy ${set}_new\n",
            ),
        ),
        (Entries("add $set $prefix -exist\n"), Entries("del $set $prefix -exist\n", removed=True)),
        kinds=("inet", "inet6"),
    ),
    Syntax(
        "nginx-geo", ("geo $$$name {\n    default 0;\n", Entries("    $prefix $value;\n"), "}\n")
    ),
    # iptables-restore and ip6tables-restore read the same file, and each applies it as a whole:
    # -4 or -6 states the family of a rule, and each program skips the rules of the other.
    # Declaring the chain creates or empties it.
    Syntax(
        "iptables",
        ("*filter\n:$name - [0:0]\n", Entries(f"-A {_RULE}"), "COMMIT\n"),
        ("*filter\n", Entries(f"-D {_RULE}", removed=True), Entries(f"-A {_RULE}"), "COMMIT\n"),
    ),
    # Changes are commands of the Runtime API. ``prompt`` keeps the connection open: without it
    # HAProxy reads a single line. ``quit`` ends it: if a client closes its half first, HAProxy
    # drops the commands that it has not read yet.
    Syntax(
        "haproxy",
        _LINES,
        (
            "prompt\n",
            Entries("add acl $acl $prefix\n"),
            Entries("del acl $acl $prefix\n", removed=True),
            "quit\n",
        ),
    ),
    # ``pfctl -T replace`` compares the file with the table by itself.
    Syntax("pf", _LINES),
    # BIRD 2 accepts no comma after the last prefix. A list states which addresses have an answer,
    # not which routes exist: + matches routes inside a prefix too.
    Syntax("bird", (("define $set = [", Entries("\n\t$prefix+", separator=","), "\n];\n"),)),
    # IOS refuses to replace an object group that an access list names, so a list that is in use
    # is changed entry by entry.
    Syntax(
        "cisco",
        ((_GROUP, Entries(" $prefix\n")),),
        ((_GROUP, Entries(" $prefix\n"), Entries(" no $prefix\n", removed=True)),),
        kinds=("network", "v6-network"),
        adapt=_with_masks,
        restore=_without_masks,
    ),
    Syntax("squid", _LINES),
)
SYNTAXES = {syntax.name: syntax for syntax in _SYNTAXES}
