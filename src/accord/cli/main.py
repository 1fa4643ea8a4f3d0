"""`accord`: the list of commands. A command's module is imported when it is called, so that `--help` is instant."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from typing import Any, NoReturn

import click

from accord.cli.failing import Failure, is_debugging
from accord.cli.streams import give_up_output, settle
from accord.errors import AccordError
from accord.version import __version__

# The name of each command, where it lives, and what it does, so that listing them loads none.
COMMANDS = {
    "agent": ("accord.cli.agent", "The built-in coding agent, for editors to start."),
    "chat": ("accord.cli.chat", "Talk with an agent in the terminal; what accord alone does, too."),
    "agents": ("accord.cli.agents", "List, add, pin, update and run agents."),
    "doctor": ("accord.cli.doctor", "Say in words why an agent does not start, and what to do."),
    "editors": ("accord.cli.editors", "Print or write the configuration with which an editor starts an agent."),
    "run": ("accord.cli.run", "Send one prompt to an agent and print its answer."),
    "sessions": ("accord.cli.sessions", "List, search, show, export and delete stored sessions."),
    "showcase": ("accord.cli.showcase", "An agent without a model that shows every feature of the protocol."),
    "trust": ("accord.cli.trust", "Trust a folder, so that its accord.toml counts."),
}
BROKEN_PIPE = 141


class Unread(Exception):
    """Whoever read our output has had enough. (click would end with status 1 by itself.)"""


class Commands(click.Group):
    """Knows the commands by name, and loads the one that is called."""

    def make_context(self, *args: Any, **how: Any) -> click.Context:
        try:
            return super().make_context(*args, **how)
        except BrokenPipeError:
            raise Unread from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise Unread from None

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command = getattr(importlib.import_module(COMMANDS[name][0]), name)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0] if args else ""
        if name and name not in COMMANDS:
            import difflib

            close = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise click.UsageError(f"there is no command {name!r}{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(__version__, prog_name="accord")
@click.option("-c", "--continue", "newest", is_flag=True, help="Chat: go on with the newest session of this folder.")
@click.option("--session", "session_id", metavar="ID", help="Chat: open this session.")
@click.pass_context
def accord(ctx: click.Context, newest: bool, session_id: str | None) -> Any:
    """The Agent Client Protocol at the command line. Without a command: accord chat."""
    if ctx.invoked_subcommand is None:
        return _chat(ctx, newest, session_id)
    if newest or session_id is not None:
        option = "--continue" if newest else "--session"
        raise click.UsageError(f"{option} goes behind the command, if {ctx.invoked_subcommand} has it")
    return None


def _chat(ctx: click.Context, newest: bool, session_id: str | None) -> Any:
    """What `accord` alone does; with nobody to talk to, it says what there is."""
    from accord.cli.chat import NO_SCREEN, chat, has_terminal, is_dumb

    asked = newest or session_id is not None
    if not asked and not has_terminal() and (sys.stdin is None or sys.stdin.isatty()):
        click.echo(ctx.get_help())
        if is_dumb():
            click.echo(f"\n{NO_SCREEN}", err=True)
        return 0
    return ctx.invoke(chat, newest=newest, session_id=session_id, allow=(), ask=(), deny=())


def main() -> None:
    """Runs a command. Errors are one or two lines on standard error; ACCORD_DEBUG=1 shows the traceback."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    settle()
    try:
        status = accord(standalone_mode=False, prog_name="accord")
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx is not None else "accord"
        _fail(f"{where}: {_sentence(error.format_message())}\nsee: {where} --help", 2)
    except click.ClickException as error:
        _fail(f"accord: {_sentence(error.format_message())}", error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except (Unread, BrokenPipeError):
        # `accord run … | head`
        give_up_output()
        sys.exit(BROKEN_PIPE)
    except Failure as failure:
        if is_debugging():
            raise
        _fail(f"accord: {failure}", failure.status)
    except AccordError as error:
        if is_debugging():
            raise
        _fail(f"accord: {error}", 1)
    except OSError as error:
        if is_debugging():
            raise
        give_up_output()
        _fail(f"accord: {_trouble(error)}", 1)
    except Exception as error:
        if is_debugging():
            raise
        _fail(f"accord: a fault in accord itself: {type(error).__name__}: {error}\nACCORD_DEBUG=1 shows where", 1)
    sys.exit(status if isinstance(status, int) else 0)


def _sentence(text: str) -> str:
    """What click says of options, in the manner of the others."""
    text = text.strip().removesuffix(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _trouble(error: OSError) -> str:
    """What the system refused, in words."""
    why = error.strerror or str(error)
    if error.filename:
        return f"{error.filename}: {why}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
        return f"the output cannot be written: {why}"
    try:
        os.getcwd()
    except OSError:
        return "the folder you are in is not there any more; go to another one"
    return why


def _fail(text: str, status: int) -> NoReturn:
    from accord.cli.words import fit
    from accord.config.mask import masked

    try:
        click.echo(fit(masked(text)), err=True)
    except OSError:  # then nobody can be told
        give_up_output(2)
    sys.exit(status)
