"""How cells of in-house files are written, ``[source.cells]``: empty words, commas, netmasks."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network

import pyarrow as pa
import pyarrow.compute as pc

#: The length of a prefix by its netmask, of both families.
_LENGTHS = {
    str(network((0, length)).netmask): str(length)
    for network, bits in ((IPv6Network, 128), (IPv4Network, 32))
    for length in range(bits + 1)
}
_NETMASKS = pa.array(_LENGTHS, pa.large_string())
_DIGITS = pa.array(_LENGTHS.values(), pa.large_string())


def prefix_lengths(netmasks: pa.Array) -> pa.Array:
    """Return the lengths of prefixes for netmasks; another text stays, to be refused."""
    texts = netmasks.cast(pa.large_string()).dictionary_encode()
    words = pc.utf8_trim_whitespace(texts.dictionary)
    lengths = _DIGITS.take(pc.index_in(words, _NETMASKS))
    return pc.coalesce(lengths, words).take(texts.indices)
