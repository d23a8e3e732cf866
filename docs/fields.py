"""Writes the texts that repeat ``geolookup.contract.fields``, from its entries.

``python -m docs.fields`` writes them, ``python -m docs.fields --check`` fails if one differs (CI
and a test run it). These are the types of answers and paths, the members of views, the tables of
fields in pages, the counts of values, and in the JSON Schema the members that it lacks: what it
has is frozen. Words that no entry has stay as they stand in the pages.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from geolookup.contract import display
from geolookup.contract.fields import (
    BOOLEAN,
    BY_SOURCE_COLUMN,
    COUNTRY,
    FIELDS,
    GROUPS,
    LAYERS,
    LIMITS,
    LOCATION,
    NETWORK,
    REAL,
    STATED,
    TEXT,
    TEXTS,
    Field,
    in_table,
    members,
)
from geolookup.dataset import layout

ROOT = Path(__file__).resolve().parent.parent
_PYTHON = {TEXT: "str", TEXTS: "list[str]", REAL: "float", BOOLEAN: "bool"}
_PATH_TYPES = {
    "str": "StringPath",
    "list[str]": "StringsPath",
    "float": "NumberPath",
    "int": "IntegerPath",
    "bool": "BooleanPath",
}
_BEGIN, _END = "# --- written by python -m docs.fields", "# --- end of what it wrote"


def main(arguments: list[str]) -> int:
    """Write the texts, or with ``--check`` name those that differ; return the exit status."""
    status = 0
    for name, make in TEXTS_OF.items():
        path = ROOT / name
        old = path.read_text(encoding="utf-8")
        new = make(old)
        if new != old and "--check" in arguments:
            print(f"{name}: differs from the fields; run python -m docs.fields", file=sys.stderr)
            status = 1
        elif new != old:
            path.write_text(new, encoding="utf-8")
            print(name)
    return status


# --- Python


def _types(old: str) -> str:
    aliases = [_alias(*alias) for alias in _path_types()]
    objects = [
        _typed_dict(*group) for group in zip(_OBJECTS, GROUPS, _OBJECTS.values(), strict=True)
    ]
    return _between(_between(old, "paths", "".join(aliases)), "objects", "\n\n".join(objects))


#: Classes of the objects, and their docstrings.
_OBJECTS = {
    "Location": "Where an address is: continent, country and place. None: unknown.",
    "Time": "The local time of an address. None: the zone is unknown.",
    "Currency": "The currency of the country. None: unknown.",
    "Network": (
        "Who announces and uses the network of an address. None: unknown; so is an absent ``asn``."
    ),
}


def _path_types() -> Iterator[tuple[str, list[str]]]:
    """Yield the names of types of paths, and their paths."""
    known = [field for field in FIELDS if field.group and field.nullable]
    of_type: dict[str, list[str]] = {}
    for field in known:
        of_type.setdefault(_PYTHON.get(field.type, "int"), []).append(field.path)
    for kind, name in _PATH_TYPES.items():
        yield name, of_type.get(kind, [])
    yield "AddressPath", [field.path for field in FIELDS if not field.group]
    yield "InstantPath", [field.path for field in FIELDS if field.group and not field.nullable]
    yield "GroupPath", list(GROUPS)


def _alias(name: str, paths: list[str]) -> str:
    line = f"{name} = Literal[{', '.join(map(json.dumps, paths))}]\n"
    if len(line) <= 101:
        return line
    return f"{name} = Literal[\n" + "".join(f'    "{path}",\n' for path in paths) + "]\n"


def _typed_dict(name: str, group: str, meaning: str) -> str:
    lines = [
        f"    {field.member}: {_annotation(field)}\n" for field in FIELDS if field.group == group
    ]
    return f'class {name}(TypedDict):\n    """{meaning}"""\n\n{"".join(lines)}'


def _annotation(field: Field) -> str:
    kind = _PYTHON.get(field.type, "int")
    if field.optional:
        return f"NotRequired[{kind}]"
    return f"{kind} | None" if field.nullable else kind


def _views(old: str) -> str:
    for group in GROUPS:
        lines = (
            f"    {field.member}: {_attribute(field)}\n" for field in FIELDS if field.group == group
        )
        old = _between(old, group, "".join(lines), indent="    ")
    return old


def _attribute(field: Field) -> str:
    """Return the type of an attribute: None also for an address without an answer."""
    if field.path == "time.current_time":
        return "dt.datetime | None"
    return f"{_PYTHON.get(field.type, 'int')} | None"


def _between(old: str, part: str, new: str, indent: str = "") -> str:
    """Replace what stands between the comments that name a part."""
    begin, end = f"{indent}{_BEGIN}: {part}\n", f"{indent}{_END}\n"
    before, _, after = old.partition(begin)
    kept = after.partition(end)[2]
    blank = "\n\n" if new.startswith("class") else ""
    return f"{before}{begin}{blank}{new}{blank}{end}{kept}"


# --- pages


def _contract(old: str) -> str:
    header = "| path | type | unit | meaning | example |\n|---|---|---|---|---|\n"
    rows = [_row(f"`{info.path}`", *info[1:4], _example(info.example)) for info in display.fields()]
    return _table_after(old, "as `geolookup fields` prints them", header + "".join(rows))


def _example(value: object) -> str:
    return "" if value is None else f"`{_json(value)}`"


def _format(old: str) -> str:
    parts = re.split(r"(?m)^(?=### )", old)
    whole = "".join(_described(part) for part in parts)
    for file, table in ((layout.TABLES[table], table) for table in (LOCATION, NETWORK, COUNTRY)):
        names = " ".join(
            f"`{field.column}`" + " (no text at all where unknown)" * field.optional
            for field in in_table(table)
        )
        whole = re.sub(rf"(?m)^\| `{file}` \| `.*` \|$", f"| `{file}` | {names} |", whole)
    layers = ", ".join(f"`{layer}`" for layer in LAYERS)
    return re.sub(r"(\| `coverage` \| for each of )[^:]*:", rf"\g<1>{layers}:", whole)


def _described(part: str) -> str:
    """Return a section of a file with a row for each column of the layout, in its order."""
    file = part.partition("\n")[0].removeprefix("### ")
    columns = layout.COLUMNS.get(file)
    if columns is None or "| column |" not in part:
        return part
    stand = dict(re.findall(r"(?m)^\| `(\w+)` \|[^|]*\| (.*?) ?\|$", part))
    rows = [
        _row(f"`{name}`", column.type.replace("list<item: ", "list<"), _words(file, name, stand))
        for name, column in columns.items()
    ]
    header = "| column | type | meaning |\n|---|---|---|\n"
    return _table_after(part, "", header + "".join(rows))


def _words(file: str, name: str, stand: dict[str, str]) -> str:
    """Return the meaning of a column: that of its field, or what stands there."""
    if file == layout.EXPLAINED_VALUES and name in BY_SOURCE_COLUMN:
        return f"of the layer `{BY_SOURCE_COLUMN[name].layer}`"
    for field in FIELDS:
        if field.column == name and layout.TABLES[field.table] == file:
            return display.meaning(field) + f" ({field.unit})" * bool(field.unit)
    return stand.get(name, "likewise" if name in LAYERS else "")


def _recipe(old: str) -> str:
    stand = dict(re.findall(r"(?m)^\| (\w+) \| (`.*) \|$", old))
    rows = []
    for layer, names in STATED.items():
        words = stand.get(layer, "")
        if [name for name in re.findall(r"`(\w+)`", words) if name in names] != list(names):
            words = " ".join(f"`{name}`" + _listed(BY_SOURCE_COLUMN[name]) for name in names)
        rows.append(_row(layer, words))
    return _table_after(
        old, "can be compiled again:", "| layer | fields |\n|---|---|\n" + "".join(rows)
    )


def _listed(field: Field) -> str:
    return f": {', '.join(field.words)}" if field.words else ""


def _table_after(page: str, words: str, table: str) -> str:
    """Replace the first table after some words."""
    at = page.index("\n|", page.index(words)) + 1
    end = re.compile(r"(?m)^(?!\|)").search(page, at)
    return page[:at] + table + page[end.start() if end else len(page) :]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n".replace("|  |", "| |")


def _counts(old: str) -> str:
    """Return a page with the numbers of values: "37 values per address: 21 of the location, …"."""
    counts = {group: len(members(FIELDS, group)) for group in GROUPS}
    every = r"\b\d+(?= values per address)|(?<=our envelope has )\d+|(?<=whole envelope \()\d+"
    new = re.sub(every, str(sum(counts.values())), old)
    for group, count in counts.items():
        new = re.sub(rf"\b\d+ of the ((?:local )?{group})\b", rf"{count} of the \1", new)
    return new


# --- the JSON Schema


def _schema(old: str) -> str:
    schema: dict[str, Any] = json.loads(old)
    for group in GROUPS:
        holder = schema["$defs"][group]
        stand = holder["properties"]
        fields = [field for field in FIELDS if field.group == group]
        holder["properties"] = {
            field.member: stand.get(field.member, _property(field)) for field in fields
        }
        holder["required"] = [field.member for field in fields if not field.optional]
    return json.dumps(schema, indent=2, ensure_ascii=True) + "\n"


def _property(field: Field) -> dict[str, Any]:
    null = [None] if field.nullable and not field.optional else []
    if field.words:
        return {"enum": [*field.words, *null], "description": field.meaning}
    kind = display.json_type(field).replace("strings", "array")
    stated: dict[str, Any] = {"type": [kind, "null"] if null else kind}
    stated |= {"minLength": 1} if field.type == TEXT else {}
    stated |= {"items": {"type": "string", "minLength": 1}} if field.type == TEXTS else {}
    limits = {"minimum": field.least, "maximum": field.most}
    own = LIMITS.get(field.type, (0, 0))
    stated |= {name: limit for name, limit in limits.items() if limit not in own}
    return stated | {"description": field.meaning}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


#: What makes the new text of each file from the old one.
TEXTS_OF: dict[str, Callable[[str], str]] = {
    "geolookup/contract/types.py": _types,
    "geolookup/kernel/python_answer.py": _views,
    "docs/contract.md": _contract,
    "docs/format.md": _format,
    "docs/recipe.md": _recipe,
    "docs/envelope.schema.json": _schema,
    "README.md": _counts,
    "docs/index.md": _counts,
    "benchmarks/peers/contenders.py": _counts,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
