"""Which clients a proxy refuses: ``python proxied.py PORT ADDRESS...``, beside the proxy.

A connection states its client (PROXY protocol 1), as that of a proxy in front would.
"""

from __future__ import annotations

import socket
import sys
import time


def main(port: int, addresses: list[str]) -> None:
    """Print the addresses whose request is answered by 403, a line each."""
    _until_open(port)
    for address in addresses:
        if b" 403 " in _answer(port, address):
            print(address)


def _until_open(port: int) -> None:
    ends = time.monotonic() + 60
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            if time.monotonic() > ends:
                raise
            time.sleep(0.02)
        else:
            return


def _answer(port: int, client: str) -> bytes:
    stated = f"TCP6 {client} ::1" if ":" in client else f"TCP4 {client} 127.0.0.1"
    with socket.create_connection(("127.0.0.1", port), 60) as line:
        # Where nothing listens, so that a request which is not refused fails at once.
        line.sendall(f"PROXY {stated} 1 2\r\nGET http://127.0.0.1:9/ HTTP/1.0\r\n\r\n".encode())
        return line.recv(1 << 12).split(b"\r\n")[0]


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
