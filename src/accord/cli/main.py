"""The `accord` command. Each command's module is imported when it is called, so that `--help` is fast."""

from __future__ import annotations

import errno
import importlib
import os
import signal
import sys
from typing import Any, NoReturn

import click

from accord.cli.support.errors import CommandError, is_debugging
from accord.cli.support.streams import discard_output, open_closed_streams
from accord.errors import AccordError
from accord.process.python import restore
from accord.version import __version__

# The module and help text of each command: listing them imports none of them.
COMMANDS = {
    "agent": ("accord.cli.agent", "Run the built-in coding agent on stdio, for editors."),
    "chat": ("accord.cli.chat", "Open the terminal client (the default command)."),
    "agents": ("accord.cli.agents", "List, install, add, pin, update and run agents."),
    "completion": ("accord.cli.completion", "Print the completion script for bash, zsh or fish."),
    "connect": ("accord.cli.connect", "Make a remote agent available on stdio, for editors."),
    "doctor": ("accord.cli.doctor", "Diagnose why an agent won't start or can't be reached."),
    "editors": ("accord.cli.editors", "Print or write the editor configuration for an agent."),
    "login": ("accord.cli.agent", "Save a model provider's API key for the built-in agent."),
    "logout": ("accord.cli.agent", "Remove saved API keys."),
    "new": ("accord.cli.new", "Create a project for your own agent."),
    "registry": ("accord.cli.registry", "Check an agent's entry for the ACP registry."),
    "run": ("accord.cli.run", "Send one prompt to an agent and print its answer."),
    "serve": ("accord.cli.serve", "Serve an agent over HTTP and WebSocket, and manage its tokens."),
    "sessions": ("accord.cli.sessions", "List, search, show, export and delete stored sessions."),
    "showcase": ("accord.cli.showcase", "Run a demo agent that shows the features of the protocol."),
    "status": ("accord.cli.status", "List running sessions, and those that wait for you."),
    "trust": ("accord.cli.trust", "Trust a directory, so that its accord.toml applies."),
}
STARTING = {"run", "chat"}
"""Commands that start an agent immediately. The supervisor is started while they load, except for --no-wait: its
background process has its own."""
BROKEN_PIPE = 141


class OutputClosed(Exception):
    """The reader of our output has closed it. (For `BrokenPipeError`, click would exit with status 1.)"""


class Commands(click.Group):
    """The commands by name; imports the one that is called."""

    def make_context(self, *args: Any, **how: Any) -> click.Context:
        try:
            return super().make_context(*args, **how)
        except BrokenPipeError:
            raise OutputClosed from None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise OutputClosed from None

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
            if not is_prompt(name):
                raise click.UsageError(f"no such command {name!r}{_suggest(name, args)}", ctx)
            name, args = "chat", ["chat", *_take_flags(ctx), "--prompt", *args]
        if name in STARTING and not ctx.resilient_parsing and not {"-h", "--help", "--no-wait"}.intersection(args):
            from accord.process.supervision import prepare

            prepare()
        return super().resolve_command(ctx, args)


def is_prompt(word: str) -> bool:
    """Return whether the first word is a prompt. A single plain word is a command, perhaps a mistyped one."""
    import re

    return re.fullmatch(r"[\w./:@-]+", word) is None


def _suggest(name: str, args: list[str]) -> str:
    """Return advice for a word that isn't a command."""
    import difflib

    from accord.config.well_known import find_well_known

    if name in ("help", "version"):
        return f"; did you mean accord --{name}?"
    if find_well_known(name) is not None:
        return f"; to chat with this agent: accord chat {name}"
    close = difflib.get_close_matches(name, COMMANDS, n=1)
    if close:
        return f"; did you mean {close[0]}?"
    if any(word.startswith("-") for word in args):
        return ""
    if len(args) > 1:
        return f'; to send a prompt, quote it: accord "{" ".join(args)}"'
    return f"; to send it as a prompt: accord chat --prompt {name}"


def _take_flags(ctx: click.Context) -> list[str]:
    """Return the options before a prompt as options of `accord chat`, and clear them."""
    flags = ["--continue"] if ctx.params["newest"] else []
    for name in ("session_id", "model"):
        if ctx.params[name] is not None:
            flags += [f"--{name.removesuffix('_id')}", ctx.params[name]]
    ctx.params = dict.fromkeys(ctx.params)
    return flags


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, invoke_without_command=True)
@click.version_option(__version__, prog_name="accord")
@click.option("-c", "--continue", "newest", is_flag=True, help="Continue the latest session in this directory.")
@click.option("--session", "session_id", metavar="ID", help="Open this session.")
@click.option("--model", metavar="MODEL", help="Use this model.")
@click.pass_context
def accord(ctx: click.Context, newest: bool, session_id: str | None, model: str | None) -> Any:
    """Agent Client Protocol tools. Without a command, opens the terminal client (accord chat).

    \b
    Examples:
      accord
      accord "fix the failing test"
      accord --continue
      accord run "what does this project do?"
    """
    if ctx.invoked_subcommand is None:
        return _chat(ctx, newest, session_id, model)
    if newest or session_id is not None or model is not None:
        option = "--continue" if newest else "--session" if session_id is not None else "--model"
        raise click.UsageError(f"put {option} after the command, if {ctx.invoked_subcommand} supports it")
    return None


def _chat(ctx: click.Context, newest: bool, session_id: str | None, model: str | None) -> Any:
    """Run `accord` without a command: the terminal client, or help without a terminal."""
    from accord.cli.chat import NO_SCREEN, chat, has_terminal, is_dumb

    asked = newest or session_id is not None or model is not None
    if not asked and not has_terminal() and (sys.stdin is None or sys.stdin.isatty()):
        click.echo(ctx.get_help())
        if is_dumb():
            click.echo(f"\n{NO_SCREEN}", err=True)
        return 0
    return ctx.invoke(chat, newest=newest, session_id=session_id, model=model, allow=(), ask=(), deny=())


def main() -> None:
    """Run a command. Errors are one or two lines on standard error; ACCORD_DEBUG=1 shows the traceback."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    open_closed_streams()
    restore()
    try:
        status = accord(standalone_mode=False, prog_name="accord")
        sys.stdout.flush()
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:  # a group without its command
        _fail(error.format_message(), 2)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx is not None else "accord"
        _fail(f"{where}: {_sentence(error.format_message())}\nsee: {where} --help", 2)
    except click.ClickException as error:
        _fail(f"accord: {_sentence(error.format_message())}", error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except (OutputClosed, BrokenPipeError):
        # `accord run … | head`
        discard_output()
        sys.exit(BROKEN_PIPE)
    except CommandError as failure:
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
        discard_output()
        _fail(f"accord: {_describe(error)}", 1)
    except Exception as error:
        if is_debugging():
            raise
        _fail(f"accord: internal error: {type(error).__name__}: {error}\nset ACCORD_DEBUG=1 to see the traceback", 1)
    sys.exit(status if isinstance(status, int) else 0)


def _sentence(text: str) -> str:
    """Format click's message like ours: one line, lower case, no full stop."""
    text = " ".join(text.split()).removesuffix(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _describe(error: OSError) -> str:
    """Describe an error of the operating system."""
    why = error.strerror or str(error)
    if error.filename:
        return f"{error.filename}: {why}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
        return f"can't write the output: {why}"
    try:
        os.getcwd()
    except OSError:
        return "the current directory no longer exists; cd to another one"
    return why


def _fail(text: str, status: int) -> NoReturn:
    from accord.config.redaction import redact_text
    from accord.terminal_text import escape

    try:
        click.echo(escape(redact_text(text)), err=True)
    except OSError:  # there is no way left to report it
        discard_output(2)
    sys.exit(status)
