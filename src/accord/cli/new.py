"""accord new: create a small project that works immediately."""

from __future__ import annotations

from pathlib import Path

import click

HELP = {"help_option_names": ["-h", "--help"]}


@click.group(context_settings=HELP)
def new() -> None:
    """Create a project.

    \b
    Examples:
      accord new agent my-agent
    """


@new.command(
    "agent",
    context_settings=HELP,
    epilog="""\b
Examples:
  accord new agent my-agent
  accord new agent my-agent --template model
  accord new agent my-agent --template wrapper --command "my-cli --quiet"
""",
)
@click.argument("name")
@click.option(
    "--template",
    type=click.Choice(["minimal", "model", "wrapper"]),
    default="minimal",
    show_default=True,
    help="minimal: echoes the prompt. model: uses a model with pydantic-ai. wrapper: runs an existing program.",
)
@click.option("--command", metavar="COMMAND", help="The program to wrap. It reads the prompt from standard input.")
@click.option(
    "--directory", type=click.Path(path_type=Path), help="Where to write the project (default: NAME in this directory)."
)
def new_agent(name: str, template: str, command: str | None, directory: Path | None) -> None:
    """Create a project for the agent NAME.

    It has a package, tests, a README, an editor snippet and a registry entry."""
    import shlex

    from accord.cli.support.errors import CommandError
    from accord.cli.support.project_template import describe, render

    if command is not None and template != "wrapper":
        raise click.UsageError("--command needs --template wrapper")
    target = (directory or Path(name)).absolute()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise CommandError(f"{target} already exists and isn't empty; nothing was written")
    values = describe(name, template, target, shlex.split(command or ""))
    for path, text in render(template, values):
        file = target / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        click.echo(str(path))
    click.echo(
        f"\nCreated {name} in {target}. Next:\n  cd {shlex.quote(str(target))}\n  uv run pytest\n"
        f'  uv run accord run --agent {name} "hello"\nWithout uv, see README.md.',
        err=True,
    )
