"""accord chat: the terminal client, with any agent. Also the default command."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from accord.cli.support.complete import complete_agents
from accord.cli.support.options import parse_rules
from accord.version import install_command

if TYPE_CHECKING:
    from accord.cli.support.host import TuiHost
    from accord.client.session import Session
    from accord.tui.session.opener import OpenMode
    from accord.tui.terminal.restore import TerminalRestorer


NO_SCREEN = "the terminal client can't draw with TERM=dumb; set TERM to your terminal's type, or pipe in a prompt"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("agent", required=False, shell_complete=complete_agents)
@click.option(
    "--cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path("."), help="Project directory."
)
@click.option("-c", "--continue", "newest", is_flag=True, help="Continue the latest session in this directory.")
@click.option("--session", "session_id", metavar="ID", help="Open this session; a unique prefix of its ID is enough.")
@click.option("--allow", multiple=True, metavar="RULE", help="Allow without asking, such as 'command:git log', or all.")
@click.option("--ask", multiple=True, metavar="RULE", help="Always ask, such as 'write:src/**'.")
@click.option("--deny", multiple=True, metavar="RULE", help="Never allow, such as 'path:**/.env'.")
@click.option("--model", metavar="MODEL", help="Use this model. Names that aren't listed are passed to the agent.")
@click.option("-p", "--prompt", metavar="PROMPT", help="Send this prompt first.")
@click.option("--install", "can_install", is_flag=True, help="Install the agent without asking, if it isn't yet.")
@click.option("--pick", is_flag=True, help="Choose the agent on the start page.")
@click.option("--v2", is_flag=True, help="Also offer protocol version 2 (a draft).")
def chat(
    agent: str | None,
    cwd: Path,
    v2: bool,
    newest: bool,
    session_id: str | None,
    model: str | None = None,
    prompt: str | None = None,
    pick: bool = False,
    can_install: bool = False,
    **rules: tuple[str, ...],
) -> int:
    """Open the terminal client with AGENT: a name such as claude, codex or gemini, or a command line.

    Without AGENT, uses your default agent, or the built-in one. If several are configured and none is the default, the
    start page lets you choose. Without a terminal, reads the prompt from standard input and behaves like accord
    run.

    \b
    Examples:
      accord chat
      accord chat --continue
      accord chat "python my_agent.py"
      accord chat --prompt "fix the failing test" --allow "write:src/**"
    """
    if newest and session_id is not None:
        raise click.UsageError("use --continue or --session, not both")
    if not has_terminal():
        if prompt is None and is_dumb() and sys.stdin is not None and sys.stdin.isatty():
            raise click.UsageError(NO_SCREEN)
        first = FirstSession(session_id, newest, model, prompt)
        return _run(agent, cwd, v2, first, can_install, rules)
    try:
        import importlib.util

        is_there = importlib.util.find_spec("textual") is not None
    except (ImportError, ValueError):
        is_there = False
    if not is_there:
        raise click.ClickException(f"accord chat needs the terminal interface: {install_command('tui')}")
    import gc

    gc.disable()  # until the first frame: imports create many objects and no garbage
    from accord.cli.support.host import TuiHost

    host = TuiHost(cwd.resolve(), frozenset({1, 2} if v2 else {1}), parse_rules(rules))
    pick = agent is None and (pick or host.is_undecided)
    if not pick:
        host.begin(agent, can_install=can_install)  # the agent starts while the interface is loaded
    from accord.tui.terminal.restore import TerminalRestorer

    restorer, end = TerminalRestorer(), End(1)
    try:
        end = _show(host, agent, restorer, FirstSession(session_id, newest, model, prompt), pick)
        if end.continuation and not end.status:
            click.echo(f"Continue with: {end.continuation}")
    finally:
        host.abandon()
        restorer.finish(end.status)
    return end.status


class End(NamedTuple):
    """The exit status of the client, and the command that continues its session."""

    status: int
    continuation: str = ""


class FirstSession(NamedTuple):
    """The session that the client opens at its start."""

    id: str | None
    newest: bool
    model: str | None
    prompt: str | None

    @property
    def how(self) -> OpenMode:
        return "newest" if self.newest else "named" if self.id is not None else "new"

    async def set_up(self, session: Session) -> None:
        """Choose the model."""
        from accord.cli.support.options import set_options
        from accord.errors import AccordError

        try:
            await set_options(session, [("model", self.model)] if self.model is not None else [])
        except click.UsageError as error:
            raise AccordError(error.format_message()) from error


def _show(host: TuiHost, agent: str | None, restorer: TerminalRestorer, first: FirstSession, pick: bool) -> End:
    # Draw a key press soon after the previous frame, and let the threads that read keys and write frames run sooner
    # while a response is being drawn.
    os.environ.setdefault("TEXTUAL_FPS", "120")
    sys.setswitchinterval(0.001)
    from accord.tui.terminal.background import ask, by_variable

    asked = ask()  # the terminal replies while the interface is imported
    try:
        from accord.tui.app import AccordApp

        app = AccordApp(host, agent, restorer, is_undecided=pick)
    finally:
        said = asked.answer() if asked is not None else None
    if said is not None:
        app.typed_early = said.typed
    if asked is not None and not asked.is_answered:
        from accord.tui.terminal.background import LateReply

        app.appearance.late = LateReply(asked.rest)
    app.appearance.set_background(by_variable() if said is None else said.is_dark)
    app.first.id, app.first.how = first.id, first.how
    app.first.prompt = first.prompt or ""
    app.first.set_up = first.set_up if first.model is not None else None
    if sys.stderr is None or not sys.stderr.isatty():
        setattr(sys, "__stderr__", sys.__stdout__)  # noqa: B010  # Textual draws there; stderr is redirected
    status = app.run()
    return End(app.return_code or status or 0, app.continuation)


def _run(
    agent: str | None, cwd: Path, v2: bool, first: FirstSession, can_install: bool, rules: dict[str, tuple[str, ...]]
) -> int:
    """Behave like `accord run`; without a prompt, it comes from standard input."""
    from accord.cli.run import run
    from accord.cli.support.host import default_target

    arguments = ["--agent", agent or default_target(cwd.resolve()), "--cwd", str(cwd), *(["--v2"] if v2 else [])]
    arguments += ["--install"] if can_install else []
    arguments += ["--session", first.id] if first.id is not None else []
    arguments += ["--model", first.model] if first.model is not None else []
    arguments += ["--continue"] if first.newest else []
    arguments += [word for effect, given in rules.items() for rule in given for word in (f"--{effect}", rule)]
    arguments += ["--", first.prompt] if first.prompt is not None else []
    context = run.make_context("accord chat", arguments)
    return int(run.invoke(context) or 0)


def is_dumb() -> bool:
    """Return whether TERM says that the terminal has no cursor control."""
    return os.environ.get("TERM") == "dumb"


def has_terminal() -> bool:
    """Return whether both standard input and standard output are a usable terminal."""
    return not is_dumb() and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
