"""A separate home directory for every test: the configuration, keys and rules of the real user have no effect."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accord.agent.agent import Agent
from accord.testing import link


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Empty user directories, and no keys."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_BASE_URL")) or name.startswith(("ACCORD_", "OLLAMA_")):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CONFIG", "DATA", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder / name.lower()))
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture(params=[1, 2], ids=["v1", "v2"])
def joined(request: pytest.FixtureRequest, project: Path) -> Callable[..., Any]:
    """Connect an agent and a client in each version; the client works in the project."""

    def join(agent: Agent, client: Any = None, **options: Any) -> Any:
        return link(agent, client, version=request.param, cwd=str(project), **options)

    join.version = request.param  # type: ignore[attr-defined]
    return join
