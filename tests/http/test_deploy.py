"""The deployment files start the server as it is: options it has, probes that are answered."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
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


def _docker_arguments() -> list[str]:
    found = re.search(r"^CMD (\[.*\])$", _text("Dockerfile"), re.MULTILINE)
    assert found
    arguments: list[str] = json.loads(found[1])
    return arguments


def _unit_arguments() -> list[str]:
    found = re.search(r"^ExecStart=(.*)$", _text("geolookup.service"), re.MULTILINE)
    assert found
    return shlex.split(found[1])[1:]


@needs("yaml")
def test_the_command_lines_are_understood() -> None:
    for name, *options in (_docker_arguments(), _unit_arguments(), _container()[1]["args"]):
        assert name == "serve"
        settings = Settings(**command.make_context(name, options).params)
        assert settings.admin is not None
        assert settings.admin.endswith(":9090")
        assert settings.trusted_proxies == ()


def test_the_unit_that_follows_is_understood() -> None:
    found = re.search(r"^ExecStart=(.*)$", _text("geolookup-follow.service"), re.MULTILINE)
    assert found
    name, *options = shlex.split(found[1])[1:]
    assert name == "follow"
    parameters = follow.make_context(name, options).params
    served = Settings(**command.make_context("serve", _unit_arguments()[1:]).params)
    assert str(parameters["store"]) == served.dataset
    for line in ("DynamicUser=yes", "StateDirectory=geolookup", "Restart=on-failure"):
        assert line in _text("geolookup-follow.service")


@needs("yaml")
def test_the_probes_are_answered(server: Server) -> None:
    _, container = _container()
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        asked = container[probe]["httpGet"]
        assert asked["port"] == "admin"
        assert server.show(asked["path"]).status == 200


@needs("yaml")
def test_nobody_runs_as_root_or_writes_to_the_root() -> None:
    pod, container = _container()
    assert pod["securityContext"]["runAsNonRoot"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert re.search(r"^USER (?!0|root)", _text("Dockerfile"), re.MULTILINE)
    assert "DynamicUser=yes" in _text("geolookup.service")


@needs("yaml")
def test_there_is_time_to_drain() -> None:
    pod, container = _container()
    settings = Settings(**command.make_context("serve", container["args"][1:]).params)
    assert pod["terminationGracePeriodSeconds"] > settings.drain + 10


def test_the_files_that_are_there() -> None:
    assert {path.name for path in Path(DEPLOY).iterdir()} == {
        "Dockerfile",
        "geolookup-follow.service",
        "geolookup-update.service",
        "geolookup-update.timer",
        "geolookup.service",
        "kubernetes-update.yaml",
        "kubernetes.yaml",
        "nginx.conf",
    }
