"""accord editors: editor configuration that starts an agent."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from accord.cli.support.complete import complete_agents
from accord.cli.support.errors import CommandError

if TYPE_CHECKING:
    from accord.config.editors.editor import Editor, Launch


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("name", required=False)
@click.option(
    "--agent",
    metavar="AGENT",
    shell_complete=complete_agents,
    help="Configured name, registry ID, command line or URL.",
)
@click.option("--name", "called", metavar="TEXT", help="Name of the agent in the editor.")
@click.option("--write", is_flag=True, help="Write it to the editor's settings (JSON settings only).")
@click.option("--file", "path", type=click.Path(path_type=Path), help="Settings file, if not the default one.")
def editors(name: str | None, agent: str | None, called: str | None, write: bool, path: Path | None) -> None:
    """Print the configuration that makes the editor NAME start an agent (default: the built-in one).

    Without NAME, lists the supported editors and whether they were found on this machine.

    \b
    Examples:
      accord editors
      accord editors zed --write
      accord editors zed --agent claude
    """
    if name is None:
        if agent is not None or called is not None or write or path is not None:
            raise click.UsageError("name an editor: accord editors NAME")
        _list()
        return
    editor = _editor(name)
    if path is not None and editor.json is None:
        raise click.UsageError(f"--file doesn't apply: {editor.title} has no JSON settings file")
    launch = _launch(editor, agent, called)
    if not write:
        _print(editor, launch)
        click.echo(f"Add this to {_where(editor, path)}", err=True)
    elif editor.json is None:
        _print(editor, launch)
        raise CommandError(f"Nothing was written: --write supports JSON settings only. Add this to {editor.where}")
    else:
        _write(editor, launch, path)


def _list() -> None:
    from accord.config.editors.catalog import EDITORS
    from accord.config.editors.editor import Machine
    from accord.terminal_text import escape_line

    machine, first = Machine.this(), None
    width, wide = max(map(len, EDITORS)), max(len(editor.title) for editor in EDITORS.values())
    for editor in EDITORS.values():
        sign = editor.detect(machine)
        found = f"found: {escape_line(sign)}" if sign is not None else "not found"
        click.echo(f"{editor.name:{width}}  {editor.title:{wide}}  {found}")
        first = first or (editor.name if sign is not None else None)
    name = first or next(iter(EDITORS))
    click.echo(f"\nNext: accord editors {name} prints its configuration, and --write saves it.", err=True)


def _editor(name: str) -> Editor:
    from accord.config.agents import nearest
    from accord.config.editors.catalog import EDITORS, find_editors
    from accord.config.editors.editor import Machine

    editors = find_editors(name.lower())
    if not editors:
        aliases = [alias for editor in EDITORS.values() for alias in editor.aliases]
        close = nearest(name, [*EDITORS, *dict.fromkeys(aliases)])
        hint = f"did you mean {' or '.join(close)}?" if close else f"available: {', '.join(EDITORS)}"
        raise click.UsageError(f"unknown editor {name!r}; {hint}")
    machine = Machine.this()
    editor = next((each for each in editors if each.detect(machine)), editors[0])
    others = [each.name for each in editors if each is not editor]
    if others:
        click.echo(f"This is for {editor.name}; also available: {', '.join(others)}", err=True)
    return editor


def _launch(editor: Editor, agent: str | None, called: str | None) -> Launch:
    from accord.config.editors.launch import built_in, launch_of

    if agent is None:
        return built_in(called, full_path=editor.full_path)
    from accord.config.agents import resolve
    from accord.policy.project import load_configuration

    found = resolve(agent, load_configuration(Path.cwd()).settings)
    return launch_of(found, agent.strip(), called, full_path=editor.full_path)


def _print(editor: Editor, launch: Launch) -> None:
    from accord.config.editors.settings_file import Style

    if editor.text is not None:
        click.echo(editor.text(launch), nl=False)
        return
    settings = editor.json
    assert settings is not None
    whole = {settings.key: {settings.name(launch): settings.entry(launch)}}
    click.echo(Style().write(whole, ""))


def _where(editor: Editor, path: Path | None) -> str:
    from accord.config.editors.editor import Machine

    if editor.json is None:
        return editor.where
    file = path or editor.json.file(Machine.this())
    return f"{file}, {editor.where}; or use --write"


def _write(editor: Editor, launch: Launch, path: Path | None) -> None:
    from accord.config.editors.editor import Machine
    from accord.config.editors.settings_file import write
    from accord.errors import ConfigError

    assert editor.json is not None
    name = editor.json.name(launch)
    try:
        done = write(path or editor.json.file(Machine.this()), editor.json, launch)
    except ConfigError as error:
        _print(editor, launch)
        raise CommandError(f"{error}\nadd this to the file yourself") from error
    if not done.changed:
        click.echo(f"{done.path} is up to date: it already has {name}", err=True)
        return
    if done.replaced is not None:
        click.echo(f"Replaced the existing entry {name}", err=True)
    click.echo(f"Added {name} to {done.path}", err=True)
    if done.backup is not None:
        click.echo(f"Backup: {done.backup}", err=True)
