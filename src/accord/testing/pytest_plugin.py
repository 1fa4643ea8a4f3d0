"""Fixtures for pytest, installed with the package: `acp_agent`, `acp_client`, `acp_version`, `acp_snapshot` and
`acp_recording`.

Pytest imports this module at every start, so the rest of Accord is imported only when a fixture is used."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pytest

if TYPE_CHECKING:
    from accord.agent.agent import Agent
    from accord.client.connect import Connecting, ConnectOptions
    from accord.testing.link import AgentLink
    from accord.testing.recording import Recording
    from accord.testing.script import ScriptedClient
    from accord.testing.snapshot import TranscriptSnapshot

_VERSION_ID = re.compile(r"\[v[12]-|-v[12](?=[-\]])|\[v[12]\]")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("accord", "Agent Client Protocol")
    group.addoption("--acp-update", action="store_true", help="update the snapshots of acp_snapshot")


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def acp_version(request: pytest.FixtureRequest) -> int:
    """The protocol version. A test that uses this fixture or `acp_agent` runs once for each version."""
    return int(request.param)


@pytest.fixture
def acp_client() -> ScriptedClient:
    """The client on the other side of `acp_agent`: its files, commands and answers, and the agent's requests."""
    from accord.testing.script import ScriptedClient

    return ScriptedClient()


@pytest.fixture
def acp_agent(acp_version: int, acp_client: ScriptedClient) -> AgentLink:
    """Connect to an agent: `async with acp_agent(MyAgent()) as agent`. Files and commands are those of `acp_client`."""
    from accord.testing.link import link

    def connect(agent: Agent, **options: Unpack[ConnectOptions]) -> Connecting:
        return link(agent, acp_client, version=acp_version, **options)

    return connect


@pytest.fixture
def acp_snapshot(request: pytest.FixtureRequest) -> TranscriptSnapshot:
    """Compare a session's transcript with a text file in `__snapshots__`; `--acp-update` writes it."""
    from accord.testing.snapshot import TranscriptSnapshot

    name = re.sub(r"[^\w.-]+", "-", _without_version(request.node.name)).strip("-")
    file = Path(request.path).parent / "__snapshots__" / Path(request.path).stem / f"{name}.txt"
    return TranscriptSnapshot(file, is_updating=bool(request.config.getoption("--acp-update")))


@pytest.fixture
def acp_recording(request: pytest.FixtureRequest) -> Callable[[str], Recording]:
    """Read a recorded conversation, relative to the test's directory: `acp_recording("hello.jsonl").agent`."""
    from accord.testing.recording import Recording

    def read(path: str) -> Recording:
        return Recording.read(Path(request.path).parent / path)

    return read


def _without_version(name: str) -> str:
    """Remove the version from a test's name: both versions have the same snapshot."""
    return _VERSION_ID.sub(lambda found: "[" if found[0].endswith("-") else "", name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """End the traceback of an incorrect call at the test's own line."""
    if call.excinfo is not None and type(call.excinfo.value).__module__ == "accord.errors":
        from accord.errors import end_at_author

        end_at_author(call.excinfo.value)
    return (yield)
