"""``geolookup serve``: answers lookups over HTTP."""

from __future__ import annotations

from importlib.util import find_spec
from inspect import signature
from typing import Any

import click

from geolookup.cli import fail, options
from geolookup.cli.command import command
from geolookup.cli.options import instant_of, kept, option


@command("serve")
@options.dataset
@option(
    "--watch SECONDS",
    "Poll the dataset every SECONDS for a new generation. [default: off]",
    click.FloatRange(0, min_open=True),
)
@options.trusted_keys
@option("--max-age AGE", "Maximum age of the data, such as 30, 30d or 4w.")
@option(
    "--on-stale",
    "For older data: log a warning, refuse to serve, or send X-Dataset-Stale.",
    click.Choice(["warn", "refuse", "tag"]),
    default="warn",
)
@option(
    "--own", "Add the own columns of the dataset to each answer, as the member own after network."
)
@options.accounts
@options.plans
@option("--host ADDRESS", "Address to listen on.", default="127.0.0.1")
@option("--port NUMBER", "TCP port to listen on.", click.IntRange(1, 65535), default=8000)
@option(
    "--workers NUMBER",
    "Number of worker processes; use one per core.",
    click.IntRange(1),
    default=1,
)
@option(
    "--trusted-proxy CIDR...",
    "Trust X-Forwarded-For and Forwarded of proxies in this network; repeatable.",
    name="trusted_proxies",
)
@option(
    "--cors ORIGIN...",
    "Let pages of this origin read the answers, such as https://app.example; * is any origin;"
    " repeatable.",
)
@option("--admin HOST:PORT", "Address of the port for health and metrics. [default: off]")
@option("--access-log", "Log time, status and duration of each request.")
@option("--tls-certificate FILE", "PEM file of a certificate: serve HTTPS.")
@option("--tls-key FILE", "PEM file of the private key of the certificate.")
def serve(**values: Any) -> None:
    """Answer GET /v1/geo/lookup?ip=ADDRESS to callers with an X-API-Key.

    SIGHUP reloads the dataset and the plans. SIGTERM stops the server after the
    requests in progress. `geolookup update --every` beside it keeps a store current.
    Further settings are environment variables: see docs/operate/http.md.

    Example: geolookup serve --accounts sqlite:///accounts.db
    """
    if find_spec("granian") is None or find_spec("prometheus_client") is None:
        fail("the HTTP server is not installed; run pip install 'geolookup[http]'")
    import geolookup
    from geolookup.http import Settings, serve

    of_open = signature(geolookup.open).parameters
    opening = {name: values.pop(name) for name in [*values] if name in of_open}
    opening |= {"overlay": kept("overlay"), "as_of": instant_of()}
    serve(Settings(**values, opening=opening))
