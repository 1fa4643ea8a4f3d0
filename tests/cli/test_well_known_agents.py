"""Agents by their well-known names: installed with consent, listed, updated and started.

A cached copy of the public registry names a package on this machine, so nothing needs the network."""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import sys
from pathlib import Path

from config.archives import entry, npm_package, registry
from support.cli_runner import AGENT, Accord, Here
from support.prerequisites import require

from accord.config.well_known import PUBLIC_REGISTRY

SCRIPT = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S -E {shlex.quote(str(AGENT))} "$@"\n'


def offer(accord: Accord, version: str = "9.0.0") -> Path:
    """Make a package of this machine the current version of Claude Code."""
    package = npm_package(accord.folder / f"box-{version}.tgz", "box-agent", SCRIPT)
    cached = accord.cache / "registries" / f"{hashlib.sha256(PUBLIC_REGISTRY.encode()).hexdigest()[:16]}.json"
    cached.parent.mkdir(parents=True, exist_ok=True)
    listed = entry("claude-acp", version, npx={"package": str(package)})
    registry(cached, {**listed, "name": "Claude Code"})
    return package


def test_a_well_known_agent_is_installed_once_listed_and_started_by_name(accord: Accord, here: Here) -> None:
    require(None if shutil.which("npm") else "npm is not installed")
    package = offer(accord)
    refused = accord("run", "--agent", "claude", "hello")
    assert (refused.status, refused.out) == (1, "")
    assert "Claude Code isn't installed; run: accord agents install claude (or use --install" in refused.err
    assert not (accord.cache / "agents").exists()

    first = accord("run", "--install", "--agent", "claude", "hello")
    assert (first.status, first.out) == (0, "You said: hello\n"), first.err
    assert f"installing {package}…\n" in first.err
    package.unlink()
    again = accord("run", "--agent", "claude-code", "hello")
    assert (again.out, again.err) == ("You said: hello\n", "")

    row = json.loads(here("agents", "list", "--json").out)["claude"]
    assert (row["installed"], row["outdated"], row["title"]) == ("9.0.0", False, "Claude Code")

    newer = offer(accord, "9.10.0")
    assert "Claude Code 9.0.0, installed (9.10.0 is available)" in here("agents").out
    assert accord("run", "--agent", "claude", "hello").out == "You said: hello\n", "the old version still starts"
    assert here("agents", "update", "claude").err.endswith("Claude Code: 9.0.0 → 9.10.0\n")
    newer.unlink()
    assert here("agents", "update", "claude").err.startswith("Claude Code is already at 9.10.0")
    assert here("agents", "install", "claude").err == "Claude Code 9.10.0 is already installed\n"


def test_installing_asks_once_on_a_terminal_and_takes_no_for_an_answer(accord: Accord) -> None:
    tools = accord.folder / "tools"
    tools.mkdir()
    npm = tools / "npm"
    npm.write_text(f"#!/bin/sh\ntouch {accord.folder}/ran\nexit 1\n")
    npm.chmod(0o755)
    package = offer(accord)
    screen = accord.on_terminal("run", "--agent", "claude", "hello", env={"PATH": f"{tools}:{os.environ['PATH']}"})
    screen.until("Install it?")
    assert f"Claude Code 9.0.0 isn't installed. It comes from npm, package {package}." in screen.seen
    screen.type("n\n")
    assert screen.end() == 1
    assert "Claude Code was not installed" in screen.seen and not (accord.folder / "ran").exists()
    screen.close()


def test_installing_an_unknown_agent_suggests_near_names(here: Here) -> None:
    done = here("agents", "install", "gemni")
    assert done.status == 1 and "did you mean gemini" in done.err
    assert here("agents", "update", "codex").err == (
        "accord: Codex isn't installed; run: accord agents install codex\n"
    )
