"""Clients find the token of a local server by its URL, as long as the server runs."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from accord.config.served_agents import ServedAgents
from accord.errors import ConfigError


@pytest.fixture
def served(tmp_path: Path) -> ServedAgents:
    return ServedAgents(tmp_path / "serve" / "local.json")


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8765/acp",
        "ws://127.0.0.1:8765/acp",
        "http://127.0.0.1:8765/message",
        "HTTP://127.0.0.1:8765",
    ],
)
def test_every_url_of_a_local_server_finds_the_token(url: str, served: ServedAgents) -> None:
    with served.publish("http://127.0.0.1:8765/acp", "accord_x"):
        assert served.find_token(url) == "accord_x"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8766/acp",
        "https://127.0.0.1:8765/acp",
        "http://example.org:8765/acp",
        "http://[::1]:8765/acp",
        "http://localhost:8765/acp",
        "8765",
        "http://a:b/",
    ],
)
def test_another_server_does_not_get_the_token(url: str, served: ServedAgents) -> None:
    with served.publish("http://127.0.0.1:8765/acp", "accord_x"):
        assert served.find_token(url) is None


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("http://localhost:8765/acp", "http://127.0.0.1:8765/acp"),
        ("ws://LocalHost:8765/acp?x=1", "ws://127.0.0.1:8765/acp?x=1"),
        ("http://localhost:8766/acp", "http://[::1]:8766/acp"),
        ("http://localhost:8767/acp", "http://localhost:8767/acp"),
        ("https://localhost:8765/acp", "https://localhost:8765/acp"),
        ("http://example.org:8765/acp", "http://example.org:8765/acp"),
        ("http://127.0.0.1:8766/acp", "http://127.0.0.1:8766/acp"),
        ("http://a:b/", "http://a:b/"),
    ],
)
def test_localhost_is_replaced_with_the_address_of_a_local_server(url: str, address: str, served: ServedAgents) -> None:
    first, second = served.publish("http://127.0.0.1:8765/acp", "a"), served.publish("http://[::1]:8766/acp", "b")
    with first, second:
        assert served.locate(url) == address


def test_the_file_is_readable_by_its_owner_and_gone_with_the_last_server(served: ServedAgents) -> None:
    with served.publish("http://127.0.0.1:1/acp", "accord_a"):
        with served.publish("http://127.0.0.1:2/acp", "accord_b"):
            assert stat.S_IMODE(served.path.stat().st_mode) == 0o600
            assert [server.token for server in served.servers()] == ["accord_a", "accord_b"]
        assert [server.token for server in served.servers()] == ["accord_a"]
    assert not served.path.exists() and served.servers() == []


def test_a_server_that_was_killed_is_ignored(served: ServedAgents) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    served.path.parent.mkdir()
    entry = {"url": "http://127.0.0.1:8765/acp", "token": "accord_x", "pid": gone.pid}
    served.path.write_text(json.dumps({"servers": [entry]}))
    served.path.chmod(0o600)
    assert served.find_token("http://127.0.0.1:8765/acp") is None


def test_a_file_that_others_can_read_is_refused(served: ServedAgents) -> None:
    with served.publish("http://127.0.0.1:8765/acp", "accord_x"):
        served.path.chmod(0o644)
        with pytest.raises(ConfigError, match="chmod 600"):
            served.find_token("http://127.0.0.1:8765/acp")


def test_without_a_server_there_is_no_token(served: ServedAgents) -> None:
    assert served.find_token("http://127.0.0.1:8765/acp") is None
