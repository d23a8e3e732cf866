"""The bytes of a dataset by kind of file, as ``info`` and ``check`` print them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from geolookup.dataset import layout as fmt
from geolookup.dataset.manifest import Manifest

_SUFFIX = ".arrow"
#: The files of a dataset by their kind.
_KINDS = {
    "intervals": (fmt.IPV4, fmt.IPV4_JUMP, fmt.IPV6, fmt.IPV6_SPARSE_INDEX),
    "rows": tuple(fmt.TABLES.values()),
    "provenance": tuple(fmt.PROVENANCE.values()),
}


def file_sizes(manifest: Manifest) -> dict[str, int]:
    """Return the bytes of each file of a dataset, without its manifest."""
    return {name: entry["bytes"] for name, entry in manifest.files.items()}


def size_lines(files: Mapping[str, int]) -> Iterator[str]:
    """Yield the bytes of all files, and those of each kind by file.

    Lookups map the files that answer; all processes share that memory.
    """
    answering = sum(files.get(name, 0) for name in (*fmt.ANSWERING, fmt.OWN))
    yield f"size        {sum(files.values()):,} bytes; lookups map at most {answering:,} of them"
    for kind, names in _KINDS.items():
        sizes = {name.removesuffix(_SUFFIX): files[name] for name in names if name in files}
        of_files = ", ".join(f"{name} {size:,}" for name, size in sizes.items())
        yield f"  {kind:<11} {sum(sizes.values()):,} bytes: {of_files}"
