"""Clients that ask without pause and count what goes wrong."""

import http.client
import json
import threading
from collections import Counter
from collections.abc import Callable
from typing import Self

from tests.http.serving import PATH, Server


class Load:
    """Threads with a kept connection each, while in use as a context.

    ``outcomes`` counts statuses, ``broken`` requests that were sent and not
    answered. Who is told to leave connects anew; who then finds nobody
    listening stops, for that was no request yet.
    """

    def __init__(self, server: Server, key: str, threads: int = 4) -> None:
        self.outcomes: Counter[int] = Counter()
        self.generations: Counter[str] = Counter()
        self.broken: list[Exception] = []
        #: which country was said for the address, by the generation that the headers name
        self.said: set[tuple[str, str]] = set()
        self.told_to_leave = 0
        self.last = ""
        self._server, self._headers = server, {"X-API-Key": key}
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(threads)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Stop asking; what is under way ends."""
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def count(self, more: int) -> Callable[[], bool]:
        """Return whether so many more answers have come than now, or one did not."""
        wanted = self.outcomes.total() + more
        return lambda: bool(self.broken) or self.outcomes.total() >= wanted

    def _run(self) -> None:
        while not self._stop.is_set():
            line = http.client.HTTPConnection("127.0.0.1", self._server.port, timeout=20)
            try:
                line.connect()
            except ConnectionRefusedError:
                return
            try:
                self._ask_on(line)
            except (OSError, http.client.HTTPException) as error:
                self.broken.append(error)
                return
            finally:
                line.close()

    def _ask_on(self, line: http.client.HTTPConnection) -> None:
        while not self._stop.is_set():
            line.request("GET", f"{PATH}?ip=8.8.8.8", headers=self._headers)
            answer = line.getresponse()
            body = answer.read()
            generation = str(answer.getheader("x-dataset-generation"))
            self.outcomes[answer.status] += 1
            self.generations[generation] += 1
            self.last = generation
            if answer.status == 200:
                self.said.add((generation, json.loads(body)["data"]["location"]["country_code"]))
            if answer.will_close:
                self.told_to_leave += 1
                return
