"""Which clients are let in, from a namespace of their own.

``python clients.py ADDRESS...`` prints the addresses whose datagrams reach this host: each becomes
one of the host, and sends a datagram to the host from it. It arrives at once or not at all: the
loopback interface has no queue.

``python clients.py PORT ADDRESS...`` prints the addresses that a proxy refuses: a connection states
its client (PROXY protocol 1), as a proxy in front does.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time

_FAMILIES = {False: (socket.AF_INET, "127.0.0.1", 32), True: (socket.AF_INET6, "::1", 128)}


def main(arguments: list[str]) -> None:
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    port = int(arguments.pop(0)) if arguments[0].isdecimal() else None
    if port is not None:
        _until_open(port)
    for address in arguments:
        if _arrives(address) if port is None else b" 403 " in _answer(port, address):
            print(address)


def _arrives(address: str) -> bool:
    family, host, bits = _FAMILIES[":" in address]
    command = ["ip", "address", "add", f"{address}/{bits}", "dev", "lo"]
    subprocess.run([*command, *(["nodad"] if bits == 128 else [])], check=True)
    with socket.socket(family, socket.SOCK_DGRAM) as to, socket.socket(family, to.type) as by:
        to.bind((host, 0))
        to.setblocking(False)
        by.bind((address, 0))
        try:
            by.sendto(b"x", to.getsockname()[:2])
            return to.recv(1) == b"x"
        except (BlockingIOError, PermissionError):
            return False


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
        # Nothing listens on it: a request that is not refused fails at once.
        line.sendall(f"PROXY {stated} 1 2\r\nGET http://127.0.0.1:9/ HTTP/1.0\r\n\r\n".encode())
        return line.recv(1 << 12).split(b"\r\n")[0]


if __name__ == "__main__":
    main(sys.argv[1:])
