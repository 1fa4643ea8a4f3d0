"""Write the command line reference: every command with its usage, help and options."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from accord.cli.main import COMMANDS, accord

ABOUT = """# Command line

Every command and option, as `--help` prints them. [The command line](../cli.md) explains the commands with examples.
Options without a value are flags. Options that take a value may be written as `--option VALUE` or `--option=VALUE`.
"""


def page() -> str:
    parts = [ABOUT, *describe(click.Context(accord, info_name="accord"), 2)]
    for name in sorted(COMMANDS):
        command = accord.get_command(click.Context(accord, info_name="accord"), name)
        assert command is not None
        parts += walk(click.Context(command, info_name=name, parent=click.Context(accord, info_name="accord")), 2)
    return "\n".join(parts)


def walk(context: click.Context, level: int) -> Iterator[str]:
    yield from describe(context, level)
    if isinstance(context.command, click.Group):
        for name in context.command.list_commands(context):
            inner = context.command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from walk(click.Context(inner, info_name=name, parent=context), level + 1)


def describe(context: click.Context, level: int) -> Iterator[str]:
    command = context.command
    yield f"{'#' * level} {context.command_path}\n"
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"```text\n{context.command_path} {usage}\n```\n"
    yield from paragraphs(command.help or "")
    rows = list(options(context))
    if rows:
        yield "| option | meaning | default |\n|---|---|---|"
        yield from rows
        yield ""


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text. Click marks those with fixed line breaks by a backspace."""
    for paragraph in inspect.cleandoc(text).partition("\f")[0].split("\n\n"):
        if paragraph.startswith("\b\n"):
            first, _, rest = paragraph[2:].partition("\n")
            if first.endswith(":") and rest:
                yield f"{first}\n\n```text\n{inspect.cleandoc(rest)}\n```\n"
            else:
                yield f"```text\n{paragraph[2:]}\n```\n"
        elif paragraph.strip():
            yield paragraph.replace("*", "\\*").replace("<", "&lt;") + "\n"


def options(context: click.Context) -> Iterator[str]:
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None or not isinstance(parameter, click.Option) or "help" in parameter.opts[-1]:
            continue
        names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
        if not parameter.is_flag and not parameter.count:
            metavar = parameter.make_metavar(context)
            names = names.removesuffix("`") + f" {metavar}`"
        help_text = " ".join((parameter.help or "").split())
        if parameter.multiple:
            help_text += " May be repeated."
        yield f"| {escape(names)} | {escape(help_text)} | {escape(default(parameter))} |"


def default(option: click.Option) -> str:
    value = option.default
    if callable(value) or value is None or value in ("", (), False) or "UNSET" in repr(value):
        return ""
    return "yes" if value is True else f"`{value}`"


def escape(text: str) -> str:
    return (
        text.replace("|", "\\|").replace("\n", " ").replace("**/", "\\*\\*/")
        if "`" not in text
        else text.replace("|", "\\|")
    )
