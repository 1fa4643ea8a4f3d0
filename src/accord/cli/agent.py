"""accord agent: the built-in coding agent on standard input and output, for editors to start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from accord.config.coder import CoderSettings


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--model", metavar="MODEL", help="The model of new sessions: PROVIDER:NAME, or offline.")
@click.option("--allow", "allow", multiple=True, metavar="RULE", help="Allow without asking, as in accord run.")
@click.option("--ask", "ask", multiple=True, metavar="RULE", help="Always ask.")
@click.option("--deny", "deny", multiple=True, metavar="RULE", help="Never allow.")
@click.option("--memory", is_flag=True, help="Keep sessions in memory only: they end with the process.")
@click.pass_context
def agent(
    ctx: click.Context,
    model: str | None,
    allow: tuple[str, ...],
    ask: tuple[str, ...],
    deny: tuple[str, ...],
    memory: bool,
) -> None:
    """The built-in coding agent, on standard input and output.

    Put this command into your editor's settings (accord editors shows how). Without a key it works on the offline
    model, which understands a small set of requests; accord agent login stores a key for a language model."""
    if ctx.invoked_subcommand is not None:
        return
    from accord.agent.run import run
    from accord.coder.coder import Coder
    from accord.coder.equipment import Equipment

    rules = []
    if allow or ask or deny:
        from accord.policy.settings import flags

        rules = flags(allow, ask, deny)
    store = None
    if not memory:
        from accord.store.sqlite import SqliteStore

        store = SqliteStore()
    run(Coder(store=store, equipment=Equipment(model=model, rules=rules)))


@agent.command()
@click.argument("provider", required=False)
@click.option("--check/--no-check", default=True, help="Ask the provider whether the key is good.")
def login(provider: str | None, check: bool) -> None:
    """Store a model provider's key in the system's keyring."""
    from accord.coder.login import log_in

    click.echo(log_in(provider, check=check, settings=_settings()), err=True)


@agent.command()
@click.argument("provider", required=False)
def logout(provider: str | None) -> None:
    """Remove a provider's key from the keyring, or every one."""
    from accord.coder.login import log_out

    click.echo(log_out(provider, settings=_settings()), err=True)


@agent.command()
@click.option("--json", "as_json", is_flag=True, help="One object per line.")
def models(as_json: bool) -> None:
    """List the models that can be used here."""
    import asyncio

    from accord.coder.keys import Keys
    from accord.coder.models.catalog import available
    from accord.coder.models.choose import default_model

    settings, keys = _settings(), Keys()
    asyncio.run(keys.read(settings))
    default = default_model(settings, keys)
    for info in available(settings, keys):
        if as_json:
            import msgspec

            click.echo(msgspec.json.encode({**msgspec.to_builtins(info), "default": info.id == default}))
        else:
            mark = "*" if info.id == default else " "
            click.echo(f"{mark} {info.id}  {info.name}{f', {info.description}' if info.description else ''}")
    if keys.trouble and not as_json:
        click.echo(f"({keys.trouble})", err=True)


def _settings() -> CoderSettings:
    from pathlib import Path

    from accord.policy.project import configuration

    return configuration(Path.cwd()).settings.coder
