"""``geolookup serve``: answers lookups over HTTP."""

from __future__ import annotations

from importlib.util import find_spec
from inspect import signature
from typing import Any

import click

from geolookup.cli import fail, key_options, options
from geolookup.cli.command import command
from geolookup.cli.options import instant_of, kept

_STALE = ("warn", "refuse", "tag")


@command("serve")
@options.dataset
@click.option(
    "--watch",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Poll the dataset every SECONDS for a new generation. [default: off]",
)
@key_options.trusted_keys
@click.option("--max-age", metavar="AGE", help="Maximum age of the data, such as 30, 30d or 4w.")
@click.option(
    "--on-stale",
    type=click.Choice(_STALE),
    default="warn",
    show_default=True,
    help="For older data: log a warning, refuse to serve, or send X-Dataset-Stale.",
)
@click.option(
    "--own",
    is_flag=True,
    help="Add the own columns of the dataset to each answer, as the member own after network.",
)
@key_options.accounts
@key_options.plans
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on.",
)
@click.option(
    "--port",
    metavar="NUMBER",
    type=click.IntRange(1, 65535),
    default=8000,
    show_default=True,
    help="TCP port to listen on.",
)
@click.option(
    "--workers",
    metavar="NUMBER",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Number of worker processes; use one per core.",
)
@click.option(
    "--trusted-proxy",
    "trusted_proxies",
    metavar="CIDR",
    multiple=True,
    help="Trust X-Forwarded-For and Forwarded of proxies in this network; repeatable.",
)
@click.option(
    "--cors",
    metavar="ORIGIN",
    multiple=True,
    help="Let pages of this origin read the answers, such as https://app.example; * is any origin;"
    " repeatable.",
)
@click.option(
    "--admin",
    metavar="HOST:PORT",
    help="Address of the port for health and metrics. [default: off]",
)
@click.option("--access-log", is_flag=True, help="Log time, status and duration of each request.")
@click.option("--tls-certificate", metavar="FILE", help="PEM file of a certificate: serve HTTPS.")
@click.option("--tls-key", metavar="FILE", help="PEM file of the private key of the certificate.")
def serve(**options: Any) -> None:
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
    opening = {name: options.pop(name) for name in [*options] if name in of_open}
    opening |= {"overlay": kept("overlay"), "as_of": instant_of()}
    serve(Settings(**options, opening=opening))
