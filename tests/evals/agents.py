"""The agent as an editor starts it, on a provider of this machine."""

from __future__ import annotations

from pathlib import Path

from coder.payloads.sessions import MODELS
from coder.providers.server import FakeProvider
from evals.run import Configuration, configure


def agent_on(wire: str, provider: FakeProvider, home: Path) -> Configuration:
    """Return the agent on a provider API, with its own user directories."""
    name = MODELS[wire].partition(":")[0]
    config = home / f"{wire}.toml"
    config.write_text(f'[coder.providers.{name}]\nbase_url = "{provider.base_url(wire)}"\napi = "{wire}"\n')
    (agent,) = configure([MODELS[wire]], [str(config)], None, home)
    return Configuration(agent.name, agent.command, {**agent.environment, **environment(home)})


def environment(home: Path) -> dict[str, str]:
    """Return variables that keep a process away from the real user's files and keys."""
    directories = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "DATA", "CACHE", "STATE")}
    keys = {f"{name}_API_KEY": "key-of-the-test" for name in ("ANTHROPIC", "OPENAI", "GEMINI", "VLLM")}
    return {"HOME": str(home), **directories, **keys}
