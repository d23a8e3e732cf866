"""What people write: a regular expression finds addresses, an MMDB reader answers them.

Usage: ``python -m benchmarks.inline.script MMDB FILE``. IPv4 only, with a dict of the addresses
that were seen.
"""

from __future__ import annotations

import re
import sys
from ipaddress import IPv4Address
from pathlib import Path

import maxminddb

_ADDRESS = re.compile(rb"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])")


def main() -> None:
    """Write a file with a tag after each address."""
    seen: dict[bytes, bytes] = {}
    with maxminddb.open_database(sys.argv[1], maxminddb.MODE_MMAP_EXT) as reader:

        def tag(match: re.Match[bytes]) -> bytes:
            text = match[0]
            if text not in seen:
                try:
                    record = reader.get(IPv4Address(text.decode()))
                except ValueError:
                    return text
                country = record.get("country", {}) if isinstance(record, dict) else {}
                code = country.get("iso_code", "-") if isinstance(country, dict) else "-"
                seen[text] = b"%b [%b]" % (text, str(code).encode())
            return seen[text]

        with Path(sys.argv[2]).open("rb") as stream:
            for line in stream:
                sys.stdout.buffer.write(_ADDRESS.sub(tag, line))


if __name__ == "__main__":
    main()
