"""Fields replace the address in logs, with the real ``logging`` and the real structlog."""

from __future__ import annotations

import io
import ipaddress
import logging
import logging.config
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import geolookup
from geolookup.integrations.logs import GeoFilter, GeoProcessor
from tests.skips import needs, optional

structlog = optional("structlog")
IP = "8.8.8.8"
Log = tuple[logging.Logger, io.StringIO]


#: Place and time of a record; they can have the digits of an address by chance.
_CIRCUMSTANCES = {"created", "lineno", "msecs", "pathname", "process", "relativeCreated", "thread"}


class Everything(logging.Formatter):
    """Writes all that a record holds, as formatters of JSON do."""

    def format(self, record: logging.LogRecord) -> str:
        left_out = {"message", *_CIRCUMSTANCES}
        held = {name: value for name, value in vars(record).items() if name not in left_out}
        return f"{super().format(record)} {held!r} {[str(value) for value in held.values()]}"


@pytest.fixture
def log(sample: geolookup.Engine) -> Iterator[Callable[..., Log]]:
    loggers = []

    def make(*arguments: Any, **options: Any) -> Log:
        written = io.StringIO()
        handler = logging.StreamHandler(written)
        handler.setFormatter(Everything("%(country)s AS%(asn)s %(message)s"))
        handler.addFilter(GeoFilter(*arguments, engine=sample, **options))
        logger = logging.Logger("test")  # noqa: LOG001 - of this test only
        logger.addHandler(handler)
        loggers.append(logger)
        return logger, written

    yield make
    for logger in loggers:
        logger.handlers.clear()


class Request:
    def __str__(self) -> str:
        return f"<request from {IP}>"


class Silent:
    """An object whose text fails."""

    def __repr__(self) -> str:
        raise RuntimeError(IP)


def _fail(text: str) -> None:
    raise ValueError(text)


#: Messages and their arguments.
RECORDS: list[tuple[object, tuple[Any, ...]]] = [
    ("login", ()),
    (f"login from {IP}", ()),
    (f"login from {IP}:443, [{IP}], '{IP}'; ::ffff:{IP}.", ()),
    ("login from %s", (IP,)),
    ("login from %r", (ipaddress.ip_address(IP),)),
    ("%(client)s", ({"client": IP},)),
    ("%s.%s.%s.%s", (8, 8, 8, 8)),
    ("%s", (Request(),)),
    (ValueError(IP), ()),
    (Request(), ()),
    ("query /?ip=%s", (f"{IP}&x=1",)),
]


def test_the_address_is_in_nothing_that_a_record_holds(log: Callable[..., Log]) -> None:
    for message, args in RECORDS:
        logger, written = log()
        extra = {"ip": IP, "peers": [IP], "request": Request()}
        logger.error(message, *args, extra=extra)
        assert IP not in written.getvalue(), (message, args)
        assert written.getvalue().startswith("US AS15169 "), (message, args)


def test_exceptions_with_their_causes_and_notes(log: Callable[..., Log]) -> None:
    logger, written = log()
    try:
        try:
            _fail(IP)
        except ValueError as cause:
            cause.add_note(f"client {IP}")
            raise RuntimeError(f"lookup of {IP}") from cause
    except RuntimeError:
        logger.exception("failed for %s", IP, extra={"ip": IP}, stack_info=True)
    assert IP not in written.getvalue()
    assert "RuntimeError: lookup of [address]" in written.getvalue()
    assert "ValueError: [address]" in written.getvalue()


def test_addresses_without_an_answer_are_removed_too(log: Callable[..., Log]) -> None:
    for ip in ("10.0.0.1", "nonsense", "", None, 5, f"{IP}:443", Silent()):
        logger, written = log()
        logger.error("a. b: from 10.0.0.1 %s", f"{IP}:443", extra={"ip": ip})
        shown = written.getvalue()
        assert shown.startswith("None ASNone a. b: from "), ip
        assert "'ip'" not in shown, ip
        for address in ("10.0.0.1", f"{IP}:443"):
            assert (address in shown) == (address != ip), ip


def test_positions_and_mappings_of_arguments(log: Callable[..., Log]) -> None:
    """A server's access log has the address as its first argument."""
    logger, written = log(0)
    logger.error('%s - "%s"', IP, f"GET /{IP}")
    logger.error("nothing")
    logger, cleaned = log(0, clean=True)
    logger.error("%s %s", f"10.0.0.1, {IP}", f"{IP} 10.0.0.1")
    assert cleaned.getvalue().startswith("US AS15169 [address] [address] [address]")
    logger, named = log("client")
    logger.error("%(client)s: %(path)s", {"client": IP, "path": f"/{IP}"})
    assert IP not in written.getvalue() + named.getvalue()
    assert written.getvalue().startswith('US AS15169 [address] - "GET /[address]"')
    assert "\nNone ASNone nothing" in written.getvalue()
    assert named.getvalue().startswith("US AS15169 [address]: /[address]")


def test_the_time_is_that_of_the_record(log: Callable[..., Log]) -> None:
    logger, written = log(fields={"country": "ip_type", "asn": "time.current_timestamp"})
    record = logging.makeLogRecord(
        {"msg": "x", "ip": IP, "levelno": 40, "created": 1_000_000_000.5}
    )
    logger.handle(record)
    assert written.getvalue().startswith("ipv4 AS1000000000 x")


def test_without_a_usable_dataset_the_address_is_still_removed() -> None:
    engine = geolookup.open()
    geo_filter = GeoFilter(engine=engine)
    engine.close()
    record = logging.makeLogRecord({"msg": f"from {IP}", "ip": IP})
    assert geo_filter.filter(record)
    assert record.getMessage() == "from [address]"
    assert vars(record)["country"] is None


@needs("structlog")
def test_structlog(sample: geolookup.Engine) -> None:
    written = structlog.testing.CapturingLoggerFactory()
    logger = structlog.get_logger()
    logger = structlog.wrap_logger(
        written(),
        processors=[
            structlog.processors.StackInfoRenderer(),
            structlog.stdlib.PositionalArgumentsFormatter(),
            GeoProcessor(engine=sample),
            structlog.processors.dict_tracebacks,
            structlog.processors.JSONRenderer(),
        ],
    )
    logger.info("from %s", IP, ip=IP, request={"peer": [IP]}, error=ValueError(IP))
    logger.info("nothing")
    try:
        _fail(f"no route to {IP}")
    except ValueError as error:
        logger.exception("failed", ip=IP)
        logger.exception("failed", ip=IP, exc_info=error)
        logger.exception("failed", ip=ipaddress.ip_address(IP), exc_info=(1, error, None))
    shown = [call.args[0] for call in written.logger.calls]
    assert IP not in str(shown)
    assert '"country": "US", "asn": 15169' in shown[0]
    assert '"country": null, "asn": null' in shown[1]
    assert all("ValueError: no route to [address]" in line for line in shown[2:])
