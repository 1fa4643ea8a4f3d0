"""`accord`: the list of commands. A command's module is imported when it is called, so that `--help` is instant."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from accord.errors import AccordError
from accord.version import __version__

# The name of each command, where it lives, and what it does, so that listing them loads none.
COMMANDS = {
    "agents": ("accord.cli.agents", "List, add, pin, update and run agents."),
    "doctor": ("accord.cli.doctor", "Say in words why an agent does not start, and what to do."),
    "run": ("accord.cli.run", "Send one prompt to an agent and print its answer."),
    "showcase": ("accord.cli.showcase", "Serve an agent that shows every feature of the protocol."),
}


class Commands(click.Group):
    """Knows the commands by name, and loads the one that is called."""

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
            hint = f" Did you mean {close[0]}?" if close else ""
            raise click.UsageError(f"there is no command {name!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="accord")
def accord() -> None:
    """The Agent Client Protocol at the command line."""


def main() -> None:
    """Runs a command. Errors are one or two lines on standard error; ACCORD_DEBUG=1 shows the traceback."""
    try:
        status = accord(standalone_mode=False)
    except click.exceptions.Exit as end:
        sys.exit(end.exit_code)
    except click.UsageError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        sys.exit(130)
    except AccordError as error:
        if os.environ.get("ACCORD_DEBUG"):
            raise
        click.echo(f"accord: {error}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        # Whoever read our output has had enough (`accord run … | head`).
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(0)
    sys.exit(status if isinstance(status, int) else 0)
