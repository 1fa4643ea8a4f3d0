"""accord agent: the built-in coding agent on standard input and output, for editors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from accord.coder.models.cassette import Match
    from accord.config.settings import CoderSettings


@click.group(invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--model", metavar="MODEL", help="Model for new sessions: PROVIDER:NAME, or offline.")
@click.option("--allow", "allow", multiple=True, metavar="RULE", help="Allow without asking, as in accord run.")
@click.option("--ask", "ask", multiple=True, metavar="RULE", help="Always ask.")
@click.option("--deny", "deny", multiple=True, metavar="RULE", help="Never allow.")
@click.option("--memory", is_flag=True, help="Don't save sessions to disk.")
@click.option("--cassette", metavar="FILE", help="Replay a provider's recorded responses, without network or key.")
@click.option("--record", is_flag=True, help="Record the responses to the cassette instead.")
@click.option(
    "--cassette-match",
    type=click.Choice(["request", "order"]),
    default="request",
    help="Match responses to equal requests, or replay them in order.",
)
@click.pass_context
def agent(
    ctx: click.Context,
    model: str | None,
    allow: tuple[str, ...],
    ask: tuple[str, ...],
    deny: tuple[str, ...],
    memory: bool,
    cassette: str | None,
    record: bool,
    cassette_match: Match,
) -> None:
    """Run the built-in coding agent on standard input and output.

    Add this command to your editor's settings (see accord editors). Without an API key it uses the offline model, which
    understands a small set of requests. To use a language model, run accord login.

    \b
    Examples:
      accord agent
      accord agent --model anthropic:claude-sonnet-5
      accord editors zed --write
    """
    if ctx.invoked_subcommand is not None:
        return
    if record and cassette is None:
        raise click.UsageError("--record needs --cassette FILE")
    from accord.agent.run import run
    from accord.coder.agent import Coder
    from accord.coder.shared_resources import SharedResources

    rules = []
    if allow or ask or deny:
        from accord.policy.sources import parse_flags

        rules = parse_flags(allow, ask, deny)
    store = None
    if not memory:
        from accord.store.sqlite import SqliteStore

        store = SqliteStore()
    tape = None
    if cassette is not None:
        from accord.coder.models.cassette import Cassette

        tape = Cassette(cassette, record=record, match=cassette_match)
    run(Coder(store=store, shared=SharedResources(model=model, rules=rules, cassette=tape)))


@agent.command()
@click.argument("provider", required=False)
@click.option("--check/--no-check", default=True, help="Check the key with the provider.")
@click.option("--file", "in_file", is_flag=True, help="Save the key in a file, even if there is a keyring.")
def login(provider: str | None, check: bool, in_file: bool) -> None:
    """Save a model provider's API key.

    The key is saved in the system's keyring. Without one, it is saved in a file that only you can read.

    \b
    Examples:
      accord login
      accord login anthropic
      accord agent login openai --no-check
    """
    from accord.coder.login import log_in

    click.echo(log_in(provider, check=check, in_file=in_file, settings=_settings()), err=True)


@agent.command()
@click.argument("provider", required=False)
def logout(provider: str | None) -> None:
    """Remove a provider's saved API key, or all of them.

    \b
    Examples:
      accord logout anthropic
      accord agent logout
    """
    from accord.coder.login import log_out

    click.echo(log_out(provider, settings=_settings()), err=True)


@agent.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
@click.option("--refresh", "refreshes", is_flag=True, help="First download the current list from models.dev.")
def models(as_json: bool, refreshes: bool) -> None:
    """List the available models.

    \b
    Examples:
      accord agent models
      accord agent models --refresh
    """
    import asyncio

    from accord.coder.credentials import Keys
    from accord.coder.models.catalog import available, default_model
    from accord.coder.models.snapshot import refresh, snapshot_date

    if refreshes:
        click.echo(f"Downloaded data on {refresh()} models.", err=True)
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
    if not as_json:
        click.echo(f"Context windows and prices as of {snapshot_date()}; --refresh downloads newer ones.", err=True)
        if keys.problem:
            click.echo(f"({keys.problem})", err=True)


def _settings() -> CoderSettings:
    from pathlib import Path

    from accord.policy.project import load_configuration

    return load_configuration(Path.cwd()).settings.coder
