"""How the test peers are started, and why one cannot be."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Literal

from peers import install

Language = Literal["py", "ts"]
HERE = Path(__file__).resolve().parent


def agent(language: Language, version: int, *flags: str) -> list[str]:
    """The command of an agent on the official SDK of that language. Flags: `--auth`; in TypeScript `--unstable`."""
    return [*_start(language, "agent", version), *flags]


def client(language: Language, version: int) -> list[str]:
    """The command of a client; a script (JSON, or `-` for standard input) and the agent's command follow it."""
    return _start(language, "client", version)


def missing(*languages: Language) -> str | None:
    """Why peers in these languages cannot run here, or nothing when they can: the reason of a skip."""
    for language in languages:
        if language == "py" and not ((install.CACHE / "python.stamp").exists() and install.python().exists()):
            return "the official Python SDK is not installed: run tests/peers/install.py"
        if language == "ts" and not shutil.which("node"):
            return "node is not installed"
        if language == "ts" and not (install.CACHE / "node_modules" / "@agentclientprotocol" / "sdk").exists():
            return "the official TypeScript SDK is not installed: run tests/peers/install.py"
    return None


def play(
    client: list[str], agent: list[str], *steps: dict[str, Any], cwd: Path, within: float = 20.0
) -> list[list[dict[str, Any]]]:
    """Lets a client play a script with an agent. Returns what it saw in each step: first `initialize`, then the steps
    given, then `exit`. Fails when the client itself does not end well."""
    script = json.dumps({"cwd": str(cwd), "steps": steps})
    done = subprocess.run(
        [*client, "-", *agent], input=script, capture_output=True, text=True, timeout=within, check=False
    )
    assert done.returncode == 0, f"the client ended with status {done.returncode}:\n{done.stdout}\n{done.stderr}"
    seen: list[list[dict[str, Any]]] = []
    for line in map(json.loads, done.stdout.strip().split("\n")):  # and at nothing else that ends lines in Python
        if line["saw"] == "step":
            seen.append([])
        else:
            seen[-1].append(line)
    return seen


def _start(language: Language, side: str, version: int) -> list[str]:
    if language == "py":
        return [str(install.python()), str(HERE / f"py_{side}_v{version}.py")]
    return ["node", str(HERE / f"ts_{side}_v{version}.mjs")]
