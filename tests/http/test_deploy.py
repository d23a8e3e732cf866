"""The deployment files start the server as it is: options it has, probes that are answered."""

from __future__ import annotations

import json
import re
import shlex
from typing import Any

from geolookup.cli.follow import follow
from geolookup.cli.serve import serve as command
from geolookup.http.settings import Settings
from tests.conftest import ROOT
from tests.http.serving import Server
from tests.skips import needs, optional

yaml = optional("yaml")
DEPLOY = ROOT / "docs" / "deploy"


def _text(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def _container() -> tuple[dict[str, Any], dict[str, Any]]:
    deployment, service = yaml.safe_load_all(_text("kubernetes.yaml"))
    pod = deployment["spec"]["template"]["spec"]
    assert service["spec"]["selector"] == deployment["spec"]["selector"]["matchLabels"]
    (container,) = pod["containers"]
    return pod, container


def _arguments(name: str) -> list[str]:
    """Return the arguments of the program in a unit of systemd, or in the Dockerfile."""
    if name == "Dockerfile":
        (command,) = re.findall(r"^CMD (\[.*\])$", _text(name), re.MULTILINE)
        return [*json.loads(command)]
    (line,) = re.findall(r"^ExecStart=(.*)$", _text(name), re.MULTILINE)
    return shlex.split(line)[1:]


def _settings(arguments: list[str]) -> Settings:
    return Settings(**command.make_context("serve", arguments[1:]).params)


@needs("yaml")
def test_the_command_lines_are_understood() -> None:
    stated = (*map(_arguments, ("Dockerfile", "geolookup.service")), _container()[1]["args"])
    for arguments in stated:
        assert arguments[0] == "serve"
        settings = _settings(arguments)
        assert (settings.admin or "").endswith(":9090")
        assert settings.trusted_proxies == ()


def test_the_unit_that_follows_is_understood() -> None:
    name, *options = _arguments("geolookup-follow.service")
    assert name == "follow"
    parameters = follow.make_context(name, options).params
    assert str(parameters["store"]) == _settings(_arguments("geolookup.service")).dataset
    for line in ("DynamicUser=yes", "StateDirectory=geolookup", "Restart=on-failure"):
        assert line in _text("geolookup-follow.service")
    assert {path.name for path in DEPLOY.iterdir()} == {
        *("Dockerfile", "geolookup.service", "kubernetes.yaml", "nginx.conf"),
        *("geolookup-follow.service", "geolookup-update.service", "geolookup-update.timer"),
        "kubernetes-update.yaml",
    }


@needs("yaml")
def test_root_drain_and_probes(server: Server) -> None:
    pod, container = _container()
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert re.search(r"^USER (?!0|root)", _text("Dockerfile"), re.MULTILINE)
    assert "DynamicUser=yes" in _text("geolookup.service")
    pod, container = _container()
    assert pod["terminationGracePeriodSeconds"] > _settings(container["args"]).drain + 10
    _, container = _container()
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container[probe]["httpGet"]
        assert asked["port"] == "admin"
        assert server.show(asked["path"]).status == 200
