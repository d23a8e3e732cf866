"""The public interface as type checkers see it; mypy and Pyright check it, nothing runs it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from pathlib import Path
from typing import Any, assert_type

import polars as pl

import geolookup

Network = IPv4Network | IPv6Network


def opening(path: Path) -> None:
    for opened in (geolookup.open(), geolookup.open(path), geolookup.open(str(path))):
        assert_type(opened, geolookup.Engine)
    geolookup.open(b"path")  # type: ignore[arg-type]
    with geolookup.open(path) as engine:
        assert_type(engine, geolookup.Engine)


def looking_up(engine: geolookup.Engine, at: datetime) -> None:
    for envelope in (
        engine.lookup("8.8.8.8"),
        engine.lookup("8.8.8.8:53", clean=True),
        engine.lookup(IPv4Address("8.8.8.8"), at=at),
        engine.lookup(IPv6Address("::1"), at=0),
        engine.lookup(None, at=0.5),
        geolookup.lookup("8.8.8.8", at=at),
    ):
        assert_type(envelope, geolookup.Envelope)
    texts = engine.lookup_json("8.8.8.8", at=at), geolookup.lookup_json("8.8.8.8")
    assert_type(texts, tuple[bytes, bytes])
    engine.lookup("8.8.8.8", at)  # type: ignore[call-arg]
    engine.lookup()  # type: ignore[call-arg]


def answering(engine: geolookup.Engine, at: datetime) -> None:
    answer = engine.answer("8.8.8.8", at=at)
    assert_type(answer, geolookup.Answer)
    assert_type(geolookup.answer("8.8.8.8", at=at, clean=True), geolookup.Answer)
    engine.answer("8.8.8.8", at)  # type: ignore[call-arg]
    assert_type(engine.answer(IPv6Address("::1"), at=0), geolookup.Answer)
    assert_type((answer.ip, answer.success, bool(answer)), tuple[str | None, bool, bool])
    texts = answer.location.city_name, answer.currency.code, answer.error_message
    assert_type(texts, tuple[str | None, str | None, str | None])
    assert_type((answer.network.asn, answer.error_code), tuple[int | None, int | None])
    assert_type(answer.location.country_languages, list[str] | None)
    assert_type(answer.time.current_time, datetime | None)
    assert_type(answer.prefix, Network | None)
    assert_type(answer.to_dict(), geolookup.Envelope)
    answer.ip = "8.8.4.4"  # type: ignore[misc]
    answer.location.city_name = "Berlin"  # type: ignore[misc]
    answer.location.country  # type: ignore[attr-defined]  # noqa: B018


def reading_members(envelope: geolookup.Envelope, data: geolookup.Data) -> None:
    assert_type(data["location"], geolookup.Location)
    assert_type(data["location"]["city_name"], str | None)
    assert_type(data["location"]["latitude"], float | None)
    groups = data["time"], data["currency"], data["network"]
    assert_type(groups, tuple[geolookup.Time, geolookup.Currency, geolookup.Network])
    assert_type(data["time"]["current_timestamp"], int)
    assert_type(envelope["error_code"], int | None)
    data["location"]["city"]  # type: ignore[typeddict-item]
    envelope["date"]  # type: ignore[typeddict-item]
    envelope["data"]["location"]  # type: ignore[index]
    if envelope["data"] is not None:
        assert_type(envelope["data"]["location"]["city_name"], str | None)


def unknown_asns_are_absent(network: geolookup.Network) -> None:
    """Pyright reports the index, mypy each use as a number: it has no check for absent members."""
    number: int = network["asn"]  # type: ignore[assignment]
    print(number)
    assert_type(network.get("asn"), int | None)
    if "asn" in network:
        assert_type(network["asn"], int | None)


def reading_values(engine: geolookup.Engine, texts: list[str]) -> None:
    assert_type(engine.get("8.8.8.8", "ip"), str | None)
    assert_type(engine.get("8.8.8.8", "location.country_code"), str | None)
    assert_type(engine.get("8.8.8.8", "city"), str | None)
    assert_type(engine.get("8.8.8.8", "latitude"), float | None)
    assert_type(engine.get("8.8.8.8", "location.country_is_eu"), bool | None)
    assert_type(engine.get("8.8.8.8", "country_languages"), list[str] | None)
    assert_type(engine.get("8.8.8.8", "time.current_timestamp", at=0), int | None)
    assert_type(engine.get("8.8.8.8", "asn"), int | None)
    assert_type(engine.get("8.8.8.8", "network"), geolookup.Network | None)
    assert_type(engine.get("8.8.8.8", "time"), geolookup.Time | None)
    assert_type(geolookup.get("8.8.8.8", "country"), str | None)
    for value in (
        engine.get("8.8.8.8", "country", default="", clean=True),
        engine.get("8.8.8.8", "country", "asn", "time"),
        engine.get("8.8.8.8", ["country"], default=""),
        engine.get("8.8.8.8", texts),
        geolookup.get("8.8.8.8", "asn", default=0),
    ):
        assert_type(value, Any)
    engine.get("8.8.8.8", "contry")  # type: ignore[call-overload]
    engine.get("8.8.8.8", "country", "contry")  # type: ignore[call-overload]
    geolookup.get("8.8.8.8", "contry")  # type: ignore[call-overload]
    engine.get("8.8.8.8", "country", defalt="")  # type: ignore[call-overload]
    for field in geolookup.fields():
        assert_type(field.path, geolookup.FieldName)
        assert_type((field.type, field.unit, field.meaning), tuple[str, str, str])
        engine.get("8.8.8.8", field.path)


def reading_own_columns(engine: geolookup.Engine) -> None:
    """A checker knows no own column: a list or ``OwnField`` names it."""
    site = geolookup.OwnField("own.site_id")
    columns = engine.own("10.0.0.1"), geolookup.own("10.0.0.1", clean=True)
    assert_type(columns, tuple[dict[str, Any] | None, dict[str, Any] | None])
    assert_type(engine.get("10.0.0.1", "own"), Any)
    assert_type(engine.get("10.0.0.1", site), Any)
    assert_type(geolookup.get("10.0.0.1", site, "country", default=""), Any)
    assert_type(engine.get("10.0.0.1", ["own.site_id"]), Any)
    assert_type(engine.get_many(["10.0.0.1"], site), list[Any])
    assert_type(engine.answer("10.0.0.1").own.site_id, Any)
    engine.get("10.0.0.1", "own.site_id")  # type: ignore[call-overload]


def looking_up_many(engine: geolookup.Engine, at: datetime) -> None:
    ips = (IPv4Address("8.8.8.8"), "::1")
    for answers in (engine.lookup_many(ips, at=at), engine.lookup_many(iter(ips), at=[0, at])):
        assert_type(answers, list[geolookup.Envelope])
    assert_type(engine.lookup_many_json(ips), list[bytes])
    assert_type(engine.json_lines(ips), Iterator[bytes])
    assert_type(engine.get_many(ips, "asn", default=0, at=[0, at]), list[Any])
    assert_type(engine.get_many(ips, ["ip", "time"], at=at), list[Any])
    assert_type(engine.get_many(ips, "country", "asn"), list[Any])
    engine.lookup_many(5)  # type: ignore[arg-type]
    engine.get_many(ips, "contry")  # type: ignore[arg-type]
    geolookup.get_many(ips, "country")  # type: ignore[attr-defined]


def enriching(engine: geolookup.Engine, frame: pl.DataFrame, lazy: pl.LazyFrame) -> None:
    assert_type(engine.enrich(frame), pl.DataFrame)
    assert_type(engine.enrich(frame, ["location", "error_code"], time_column="when"), pl.DataFrame)
    assert_type(engine.enrich(lazy, "network.asn", prefix="geo_"), pl.LazyFrame)
    selection = ["location.city_name"]
    assert_type(engine.enrich(frame, selection, on_invalid="raise"), pl.DataFrame)
    engine.enrich(["8.8.8.8"])
    assert_type(engine.enrich(frame, "country", "asn", "error_code", column="from"), pl.DataFrame)
    engine.enrich(frame, "contry")  # type: ignore[call-overload]
    engine.enrich(frame, fields="country")  # type: ignore[call-overload]
    engine.enrich(frame, on_invalid="drop")  # type: ignore[call-overload]


def walking(engine: geolookup.Engine) -> None:
    assert_type(engine.answer("8.8.8.8").prefix, Network | None)
    assert_type(engine.prefixes(), Iterator[Network])
    assert_type(engine.prefixes(by="asn", within="8.0.0.0/8"), Iterator[tuple[Network, Any]])
    assert_type(engine.prefixes({"network.asn": [15169, None]}, family=4), Iterator[Network])
    assert_type(engine.prefixes(["country=AT", {"not": {"city": None}}]), Iterator[Network])
    engine.prefixes(by="contry")  # type: ignore[call-overload]
    engine.prefix_table(by="contry")  # type: ignore[arg-type]
    for network, values in engine.prefixes(by=["city", "asn"], within=IPv4Network("8.0.0.0/8")):
        assert_type(network, Network)
        assert_type(values, Any)


def describing(engine: geolookup.Engine) -> None:
    assert_type(engine.explain("8.8.8.8"), dict[str, Any])
    metadata = engine.metadata
    assert_type((metadata.name, metadata.generation), tuple[str, str])
    assert_type(metadata.fields, tuple[str, ...])
    assert_type(metadata.counts, Mapping[str, int])
    assert_type(metadata.coverage, Mapping[str, Mapping[str, int]])
    assert_type([source.date for source in metadata.sources], list[str | None])
    metadata.name = "other"  # type: ignore[misc]


def compiling(recipe: Path, output: Path) -> None:
    report = geolookup.build(recipe, output)
    assert_type((report.generation, report.bytes), tuple[str, int])
    geolookup.build(str(recipe), str(output), force=True, rejects="rejects.csv", max_rejected=3)
    geolookup.build(recipe, output, cache="cache", offline=True)
    geolookup.build(sources=[recipe, {"path": "a.csv"}], output=output, columns={"a": "text"})
    geolookup.build(sources=["a.csv"], output=output, name="mine")
    geolookup.build(sources=["a.csv"], output=output, fields=["country"])
    geolookup.build(recipe, output, True)  # type: ignore[call-arg, arg-type]
    geolookup.build(recipe, output, nam="mine")  # type: ignore[call-arg]


def publishing(dataset: Path, store: str, archive: str) -> None:
    done = geolookup.publish(dataset, store), geolookup.rollback(store)
    assert_type([result.generation for result in done], list[str | None])
    assert_type(geolookup.prune(store, keep=3).removed, list[str])
    listed = geolookup.generations(store)
    assert_type([(entry.at, entry.current) for entry in listed], list[tuple[str, bool]])
    assert_type(geolookup.pack(dataset, archive), int)
    geolookup.unpack(archive, dataset, force=True)
    geolookup.pack(dataset, 1)  # type: ignore[arg-type]


def comparing(old: Path, new: str) -> None:
    assert_type(geolookup.verify(new).files, int)
    result = geolookup.diff(old, new, fail_if=["country_moved > 2%"], traffic=old, top=3)
    assert_type([verdict.gate for verdict in result.failed], list[str])
    assert_type(result.old.generation, str)
    geolookup.compare(old, new)  # type: ignore[attr-defined]


def failing(address: geolookup.InvalidAddressError, dataset: geolookup.DatasetError) -> None:
    assert_type((address.code, address.http_status, address.message), tuple[int, int, str])
    assert_type(address.address, object)
    assert_type((dataset.path, dataset.problem, dataset.remedy), tuple[str, str, str])
