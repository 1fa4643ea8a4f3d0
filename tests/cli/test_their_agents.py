"""`accord run` with agents written on the official SDKs."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from peers import commands

PEERS = [("py", 1), ("ts", 1), ("ts", 2)]


@pytest.mark.peer
@pytest.mark.parametrize(("language", "version"), PEERS, ids=[f"{language}-v{version}" for language, version in PEERS])
@pytest.mark.parametrize(("prompt", "status"), [("hello there", 0), ("refuse", 3), ("fail", 1)])
def test_a_headless_turn_ends_as_the_agent_ends_it(
    language: str, version: int, prompt: str, status: int, tmp_path: Path
) -> None:
    missing = commands.missing(language)
    if missing:
        pytest.skip(missing)
    folders = {f"ACCORD_{name}_HOME": str(tmp_path / name) for name in ("CONFIG", "DATA", "CACHE")}
    agent = shlex.join(commands.agent(language, version))
    command = [sys.executable, "-m", "accord", "run", "--agent", agent, "--json", *(["--v2"] if version == 2 else [])]
    done = subprocess.run(
        [*command, prompt], capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **folders}, timeout=60
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == status, done.stderr
    assert lines[0]["protocol_version"] == version
    assert lines[-1]["event"] == "ended"
    if status == 0:
        assert "hello there" in lines[-1]["text"]
