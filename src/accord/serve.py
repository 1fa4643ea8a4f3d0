"""`python -m accord.serve module:Agent`: serves an agent, with standard output protected before its modules are loaded.

Output that the author's modules print while they are imported goes to standard error, not onto the wire."""

from __future__ import annotations

import sys

from accord.transports.stdout_guard import guard_stdio

_USAGE = "usage: python -m accord.serve MODULE:AGENT   (a class, an instance, or a function that makes one)"


def main(arguments: list[str]) -> int:
    """Load the agent that the only argument names, and serve it."""
    if len(arguments) != 1 or ":" not in arguments[0]:
        print(_USAGE, file=sys.stderr)
        return 2
    guard_stdio()
    module, _, name = arguments[0].partition(":")
    sys.path.insert(0, "")
    from importlib import import_module

    from accord.agent.agent import Agent
    from accord.agent.run import run

    try:
        loaded = import_module(module)
    except ModuleNotFoundError as error:
        return _report_error(f"{arguments[0]}: {error}")
    target = getattr(loaded, name, None)
    if target is None:
        return _report_error(f"module {module} has no {name}")
    agent = target() if callable(target) and not isinstance(target, Agent) else target
    if not isinstance(agent, Agent):
        return _report_error(f"{arguments[0]} is neither an Agent nor a function that returns one")
    run(agent)
    return 0


def _report_error(text: str) -> int:
    print(f"accord.serve: {text}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
