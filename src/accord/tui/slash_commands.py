"""The client's own slash commands, which the prompt completes beside those of the agent.

An agent's command of the same name wins; the client's is then called `/accord:NAME`, which always works."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from accord.model.session import Command

PREFIX = "accord:"
_TYPED = re.compile(r"/([^\s/]+)(?:\s|\Z)")
"""A slash command at the start of a prompt. A path like `/etc/hosts` isn't one."""


class SlashCommand(NamedTuple):
    """One of our slash commands: the action of the application that it runs."""

    name: str
    action: str
    about: str
    hint: str = ""
    """Describes the argument, if it takes one."""
    action_with_argument: str = ""
    """The action for an argument, whose parameters it follows: `set_option('model'` gets `, 'NAME')`."""

    def call(self, argument: str) -> str:
        """Return the action for an argument, or without one if it is empty."""
        return f"{self.action_with_argument}{argument!r})" if argument else self.action


SLASH_COMMANDS = (
    SlashCommand("new", "new_session", "Start another session in a new tab"),
    SlashCommand("clear", "clear", "Start over: a new session in place of this one"),
    SlashCommand("model", "choose('model')", "Choose the model", "name", "set_option('model', "),
    SlashCommand("mode", "choose('mode')", "Choose the mode", "name", "set_option('mode', "),
    SlashCommand("agent", "new_tab", "Start another agent", "name or command", "start_agent("),
    SlashCommand("login", "log_in", "Log in to the agent, or add a model", "provider", "log_in("),
    SlashCommand("sessions", "sessions", "Search and manage sessions"),
    SlashCommand("resume", "sessions", "Continue an earlier session", "id", "resume("),
    SlashCommand("status", "status", "List the sessions of all agents on this machine"),
    SlashCommand("rewind", "rewind", "Restore files to their state before a turn"),
    SlashCommand("diff", "diff", "Show what has changed since the last commit"),
    SlashCommand("review", "review", "Comment on the session's changes and its plan"),
    SlashCommand("cost", "cost", "Show the context in use and the cost"),
    SlashCommand("export", "export", "Export the transcript"),
    SlashCommand("theme", "change_theme", "Change the theme", "name", "set_theme("),
    SlashCommand("keys", "keys", "Show all keys"),
    SlashCommand("commands", "command_palette", "Search all commands and settings, as with ctrl+p"),
    SlashCommand("settings", "settings", "Change the settings"),
    SlashCommand("doctor", "doctor", "Diagnose problems with the agent"),
    SlashCommand("quit", "quit", "Quit; unsent text is saved"),
)

EXIT_WORDS = frozenset({"exit", "quit", ":q", "bye"})
"""Prompts that quit like `/quit`, as in shells and other clients."""


class Invocation(NamedTuple):
    """One of our commands as it was typed."""

    command: SlashCommand
    argument: str

    @property
    def action(self) -> str:
        return self.command.call(self.argument)

    @property
    def problem(self) -> str:
        """Why it can't be run; empty if it can."""
        is_too_much = self.argument and not self.command.action_with_argument
        return f"/{self.command.name} takes no argument." if is_too_much else ""


def list_commands(theirs: Sequence[Command]) -> list[Command]:
    """Our commands for the completion list, with a prefix where the agent has one of that name."""
    taken = {each.name for each in theirs}
    return [
        Command(
            name=f"{PREFIX}{each.name}" if each.name in taken else each.name,
            description=each.about,
            hint=each.hint or None,
        )
        for each in SLASH_COMMANDS
    ]


def find_name(text: str) -> str | None:
    """Return the name of the slash command that a prompt starts with, if any."""
    typed = _TYPED.match(text)
    return None if typed is None else typed[1]


def find_command(text: str, theirs: Sequence[Command]) -> Invocation | None:
    """Return our command if a prompt starts with its name and the agent has none of that name, or if the prompt is one
    of the `EXIT_WORDS`."""
    if text.strip() in EXIT_WORDS:
        return Invocation(next(each for each in SLASH_COMMANDS if each.name == "quit"), "")
    name = find_name(text)
    if name is None or any(each.name == name for each in theirs):
        return None
    found = next((each for each in SLASH_COMMANDS if each.name == name.removeprefix(PREFIX)), None)
    return None if found is None else Invocation(found, text[len(name) + 1 :].strip())


def suggest(name: str, theirs: Sequence[Command]) -> list[str]:
    """Return the names of commands that look like a mistyped one."""
    from accord.config.agents import nearest

    return nearest(name, [each.name for each in [*theirs, *list_commands(theirs)]])
