"""Which addresses reach this host: ``python packets.py ADDRESS...``, in a namespace of its own.

Each address becomes one of the host, and sends a datagram to the host from there. It arrives at
once or not at all, for the loopback interface has no queue.
"""

from __future__ import annotations

import socket
import subprocess
import sys

_FAMILIES = {False: (socket.AF_INET, "127.0.0.1", 32), True: (socket.AF_INET6, "::1", 128)}


def main(addresses: list[str]) -> None:
    """Print the addresses whose datagram arrives, a line each."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    for address in addresses:
        if _arrives(address):
            print(address)


def _arrives(address: str) -> bool:
    family, host, bits = _FAMILIES[":" in address]
    place = ["ip", "address", "add", f"{address}/{bits}", "dev", "lo"]
    subprocess.run([*place, *(["nodad"] if bits == 128 else [])], check=True)
    with socket.socket(family, socket.SOCK_DGRAM) as to, socket.socket(family, to.type) as by:
        to.bind((host, 0))
        to.setblocking(False)
        by.bind((address, 0))
        try:
            by.sendto(b"x", to.getsockname()[:2])
            return to.recv(1) == b"x"
        except (BlockingIOError, PermissionError):
            return False


if __name__ == "__main__":
    main(sys.argv[1:])
