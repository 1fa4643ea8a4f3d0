"""accord chat: the terminal client, on any agent. What `accord` alone does, too."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from accord.cli.outside import Beyond
    from accord.tui.opening import How
    from accord.tui.rescue import Rescue


NO_SCREEN = "TERM is dumb, so nothing can be drawn here; set TERM to what the terminal is, or pipe a prompt in"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("agent", required=False)
@click.option(
    "--cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path("."), help="The project."
)
@click.option("-c", "--continue", "newest", is_flag=True, help="Go on with the newest session of this folder.")
@click.option("--session", "session_id", metavar="ID", help="Open this session; the beginning of its id will do.")
@click.option("--allow", multiple=True, metavar="RULE", help="Allow this, such as 'command:git status'; or all.")
@click.option("--ask", multiple=True, metavar="RULE", help="Ask about this, such as 'write:src/**'.")
@click.option("--deny", multiple=True, metavar="RULE", help="Deny this, such as 'path:**/.env'.")
@click.option("--pick", is_flag=True, help="Choose the agent on the start page.")
@click.option("--v2", is_flag=True, help="Offer protocol version 2 as well.")
def chat(
    agent: str | None,
    cwd: Path,
    v2: bool,
    newest: bool,
    session_id: str | None,
    pick: bool = False,
    **rules: tuple[str, ...],
) -> int:
    """Talk with AGENT in the terminal: a configured name, a registry id or a command line.

    Without AGENT it is the default one, or the built-in agent; with several agents and no default, the start page lets
    you choose. With no terminal attached the prompt is read from standard input, and everything is as with accord
    run."""
    if newest and session_id is not None:
        raise click.UsageError("--continue and --session each name a session; give one of them")
    if not has_terminal():
        if newest:
            raise click.UsageError("--continue needs a terminal; --session ID goes on with a session anywhere")
        if is_dumb() and sys.stdin is not None and sys.stdin.isatty():
            raise click.UsageError(NO_SCREEN)
        return _run(agent, cwd, v2, session_id, rules)
    try:
        import importlib.util

        is_there = importlib.util.find_spec("textual") is not None
    except (ImportError, ValueError):
        is_there = False
    if not is_there:
        raise click.ClickException("accord chat needs the terminal interface: pip install 'accord[tui]'")
    import gc

    gc.disable()  # until the first picture: there is nothing to collect yet, and much to look through
    from accord.cli.outside import Beyond

    beyond = Beyond(cwd.resolve(), frozenset({1, 2} if v2 else {1}), _rules(rules))
    pick = agent is None and (pick or beyond.is_undecided)
    if not pick:
        beyond.begin(agent)  # the agent starts while the interface is loaded
    from accord.tui.rescue import Rescue

    rescue, status = Rescue(), 1
    try:
        how: How = "newest" if newest else "named" if session_id is not None else "new"
        status = _show(beyond, agent, rescue, (session_id, how), pick)
    finally:
        beyond.abandon()
        rescue.over(status)
    return status


def _show(beyond: Beyond, agent: str | None, rescue: Rescue, first: tuple[str | None, How], pick: bool) -> int:
    # A key that follows on a picture is drawn sooner, and the threads that read keys and write pictures get their turn
    # sooner while an answer is being drawn.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    sys.setswitchinterval(0.001)
    from accord.tui.ground import ask, by_variable

    asked = ask()  # it is answered while the interface is loaded
    try:
        from accord.tui.app import AccordApp

        app = AccordApp(beyond, agent, rescue, is_undecided=pick)
    finally:
        said = asked.answer() if asked is not None else None
    if said is not None:
        app.typed_early = said.typed
    if asked is not None and not asked.is_answered:
        from accord.tui.late import Late

        app.late = Late(asked.rest)
    app.seems(by_variable() if said is None else said.is_dark)
    app.first_session = first
    if sys.stderr is None or not sys.stderr.isatty():
        setattr(sys, "__stderr__", sys.__stdout__)  # noqa: B010  # where Textual draws; ours is kept for somebody else
    status = app.run()
    return app.return_code or status or 0


def _rules(given: dict[str, tuple[str, ...]]) -> list[Any]:
    if not any(given.values()):
        return []
    from accord.errors import RuleError
    from accord.policy.settings import flags

    try:
        return list(flags(given["allow"], given["ask"], given["deny"]))
    except RuleError as fault:
        raise click.UsageError(str(fault)) from None


def _run(agent: str | None, cwd: Path, v2: bool, session_id: str | None, rules: dict[str, tuple[str, ...]]) -> int:
    """What `accord run` does with a prompt from standard input."""
    from accord.cli.outside import default_target
    from accord.cli.run import run

    words = ["--agent", agent or default_target(cwd.resolve()), "--cwd", str(cwd), *(["--v2"] if v2 else [])]
    words += ["--session", session_id] if session_id is not None else []
    words += [word for effect, given in rules.items() for rule in given for word in (f"--{effect}", rule)]
    context = run.make_context("accord chat", words)
    return int(run.invoke(context) or 0)


def is_dumb() -> bool:
    """Whether the terminal says that nothing can be drawn on it."""
    return os.environ.get("TERM") == "dumb"


def has_terminal() -> bool:
    """Whether a person is at both ends: a terminal to read from, and one to draw on."""
    return not is_dumb() and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
