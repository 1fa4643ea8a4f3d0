"""`python -m accord.serve module:Agent`: serves an agent, guarded before any of its modules is loaded.

Whatever the author's modules print while they are imported goes to standard error, not onto the wire."""

from __future__ import annotations

import sys

from accord.transports.stdout_guard import guard_stdio

_USAGE = "usage: python -m accord.serve MODULE:AGENT   (a class, an instance, or a function that makes one)"


def main(words: list[str]) -> int:
    """Load the agent that the one argument names and serves it."""
    if len(words) != 1 or ":" not in words[0]:
        print(_USAGE, file=sys.stderr)
        return 2
    guard_stdio()
    module, _, name = words[0].partition(":")
    sys.path.insert(0, "")
    from importlib import import_module

    from accord.agent.agent import Agent
    from accord.agent.run import run

    try:
        loaded = import_module(module)
    except ModuleNotFoundError as error:
        return _complain(f"{words[0]}: {error}")
    target = getattr(loaded, name, None)
    if target is None:
        return _complain(f"module {module} has no {name}")
    agent = target() if callable(target) and not isinstance(target, Agent) else target
    if not isinstance(agent, Agent):
        return _complain(f"{words[0]} is neither an Agent nor a function that returns one")
    run(agent)
    return 0


def _complain(text: str) -> int:
    print(f"accord.serve: {text}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
