"""accord editors: what an editor must be told to start an agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from accord.cli.failing import Failure

if TYPE_CHECKING:
    from accord.config.editors.editor import Editor, Launch


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", required=False)
@click.option("--agent", metavar="AGENT", help="A configured name, an id of the registry, or a command line.")
@click.option("--name", "called", metavar="TEXT", help="What the agent is called in the editor.")
@click.option("--write", is_flag=True, help="Put it into the editor's settings, where they are JSON.")
@click.option("--file", "path", type=click.Path(path_type=Path), help="The settings file, when it is another.")
def editors(name: str | None, agent: str | None, called: str | None, write: bool, path: Path | None) -> None:
    """Print the configuration with which the editor NAME starts an agent: the built-in one unless another is named.

    Without NAME: which editors there are, and which were found on this machine."""
    if name is None:
        if agent is not None or called is not None or write or path is not None:
            raise click.UsageError("say which editor: accord editors NAME")
        _list()
        return
    editor = _editor(name)
    if editor.lacks:
        raise Failure(editor.lacks)
    if path is not None and editor.json is None:
        raise click.UsageError(f"{editor.title} has no settings file that could be written, so --file says nothing")
    launch = _launch(editor, agent, called)
    if not write:
        _print(editor, launch)
        click.echo(f"this belongs into {_where(editor, path)}", err=True)
    elif editor.json is None:
        _print(editor, launch)
        raise Failure(
            f"the settings of {editor.title} are a program: nothing was written; put this into {editor.where}"
        )
    else:
        _write(editor, launch, path)


def _list() -> None:
    from accord.cli.words import one_line
    from accord.config.editors.machine import Machine
    from accord.config.editors.table import EDITORS

    machine = Machine.this()
    width, wide = max(map(len, EDITORS)), max(len(editor.title) for editor in EDITORS.values())
    for editor in EDITORS.values():
        sign = editor.found(machine)
        found = f"found: {one_line(sign)}" if sign is not None else "not found"
        click.echo(f"{editor.name:{width}}  {editor.title:{wide}}  {found}")


def _editor(name: str) -> Editor:
    from accord.config.agents import nearest
    from accord.config.editors.table import EDITORS

    editor = EDITORS.get(name.lower())
    if editor is None:
        close = nearest(name, EDITORS)
        hint = f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(EDITORS)}"
        raise click.UsageError(f"{name!r} is no editor that is known here: {hint}")
    return editor


def _launch(editor: Editor, agent: str | None, called: str | None) -> Launch:
    from accord.config.editors.launching import built_in, launch_of

    if agent is None:
        return built_in(called, full_path=editor.full_path)
    from accord.config.resolve import resolve
    from accord.policy.project import configuration

    found = resolve(agent, configuration(Path.cwd()).settings)
    return launch_of(found, agent.strip(), called, full_path=editor.full_path)


def _print(editor: Editor, launch: Launch) -> None:
    from accord.config.editors.merging import Style

    if editor.text is not None:
        click.echo(editor.text(launch), nl=False)
        return
    settings = editor.json
    assert settings is not None
    whole = {settings.key: {launch.name: settings.entry(launch)}}
    click.echo(Style().write(whole, ""))


def _where(editor: Editor, path: Path | None) -> str:
    from accord.config.editors.machine import Machine

    if editor.json is None:
        return editor.where
    file = path or editor.json.file(Machine.this())
    return f"{file}, {editor.where}; --write puts it there"


def _write(editor: Editor, launch: Launch, path: Path | None) -> None:
    from accord.config.editors.machine import Machine
    from accord.config.editors.writing import write
    from accord.errors import ConfigError

    assert editor.json is not None
    try:
        done = write(path or editor.json.file(Machine.this()), editor.json, launch)
    except ConfigError as error:
        _print(editor, launch)
        raise Failure(f"{error}\nput this into it yourself") from error
    if not done.changed:
        click.echo(f"{done.path} has {launch.name} already, exactly so", err=True)
        return
    if done.replaced is not None:
        click.echo(f"another {launch.name} was there, and is replaced", err=True)
    click.echo(f"{launch.name} is in {done.path}", err=True)
    if done.backup is not None:
        click.echo(f"as it was before: {done.backup}", err=True)
