"""Help: every command has examples, and each example is valid."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click
import pytest

from accord.cli.main import accord


def commands(command: click.Command, names: tuple[str, ...] = ("accord",)) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each command's words and its help text."""
    context = click.Context(command, info_name=" ".join(names), terminal_width=80)  # on a terminal of any width
    yield names, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            if not found.hidden:
                yield from commands(found, (*names, name))


ALL = dict(commands(accord))


@pytest.mark.parametrize("names", ALL, ids=" ".join)
def test_no_line_in_a_list_of_commands_is_truncated(names: tuple[str, ...]) -> None:
    _, _, listed = ALL[names].partition("Commands:")
    assert [line for line in listed.splitlines() if line.endswith("...")] == []


def examples(text: str) -> list[str]:
    found = re.search(r"Examples:\n((?: +\S.*\n?)+)", text)
    return [line.strip() for line in found[1].splitlines()] if found else []


@pytest.mark.parametrize("names", ALL, ids=" ".join)
def test_the_help_of_every_command_has_examples_that_it_accepts(names: tuple[str, ...]) -> None:
    found = examples(ALL[names])
    assert found, f"{' '.join(names)} --help has no examples"
    own = [line for line in found if " ".join(names) in line]
    assert own, f"none of the examples of {' '.join(names)} uses the command"
    for line in found:
        for part in re.split(r"[|]|>>?|eval \"\$\(|\)\"", line):
            if part.strip().startswith("accord"):
                _parse(shlex.split(part)[1:])


def _parse(words: list[str]) -> None:
    """Parse a command line, but run nothing and convert no values: the files of an example needn't exist."""
    command: click.Command = accord
    context = click.Context(accord, info_name="accord")
    while True:
        _, words, _ = command.make_parser(context).parse_args(words)
        if not isinstance(command, click.Group) or not words or words[0] not in command.list_commands(context):
            return
        found = command.get_command(context, words[0])
        assert found is not None
        command, words = found, words[1:]
        context = click.Context(command, info_name=command.name, parent=context)
