"""Commands that start the test peers."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from peers import install

Language = Literal["py", "ts"]
HERE = Path(__file__).resolve().parent


def agent(language: Language, version: int, *flags: str) -> list[str]:
    """Return the command of an agent on an official SDK. Flags: `--auth`; `--serve` to serve by HTTP and WebSocket and
    print the URL; in TypeScript `--unstable`."""
    return [*_start(language, "agent", version), *flags]


def client(language: Language, version: int) -> list[str]:
    """Return the command of a client; a script (JSON, or `-` for standard input) and the agent's command follow it."""
    return _start(language, "client", version)


def missing(*languages: Language) -> str | None:
    """Return why peers in these languages can't run, or None."""
    for language in languages:
        if language == "py" and not ((install.CACHE / "python.stamp").exists() and install.python().exists()):
            return "the official Python SDK is not installed"
        if language == "ts" and not shutil.which("node"):
            return "node is not installed"
        if language == "ts" and not (install.CACHE / "node_modules" / "@agentclientprotocol" / "sdk").exists():
            return "the official TypeScript SDK is not installed"
    return None


def play(
    client: list[str],
    agent: list[str],
    *steps: dict[str, Any],
    cwd: Path,
    token: str | None = None,
    env: Mapping[str, str] | None = None,
    within: float = 300.0,
) -> list[list[dict[str, Any]]]:
    """Let a client play a script with an agent, and return the lines of each step: `initialize`, the given steps,
    `exit`. Fails if the client's exit status isn't 0."""
    script = json.dumps({"cwd": str(cwd), "steps": steps, "token": token})
    done = subprocess.run(
        [*client, "-", *agent], input=script, capture_output=True, text=True, timeout=within, check=False, env=env
    )
    assert done.returncode == 0, f"the client ended with status {done.returncode}:\n{done.stdout}\n{done.stderr}"
    seen: list[list[dict[str, Any]]] = []
    for line in map(json.loads, done.stdout.strip().split("\n")):  # `splitlines` splits at more characters
        if line["saw"] == "step":
            seen.append([])
        else:
            seen[-1].append(line)
    return seen


def _start(language: Language, side: str, version: int) -> list[str]:
    if language == "py":
        return [str(install.python()), str(HERE / f"py_{side}_v{version}.py")]
    return [shutil.which("node") or "node", str(HERE / f"ts_{side}_v{version}.mjs")]
