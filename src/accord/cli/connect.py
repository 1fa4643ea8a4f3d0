"""accord connect: make a remote agent available on standard input and output, for editors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from accord.cli.support.errors import CommandError
from accord.cli.support.options import Seconds

if TYPE_CHECKING:
    from accord.errors import LaunchError
    from accord.remote.local_servers import Where
    from accord.remote.paths import PathMap
    from accord.remote.relay import Relay
    from accord.transports.base import Interruption, Transport
    from accord.transports.http.client import HttpOptions

WAIT_SECONDS = 2.0
"""After a failed connection, how long to wait for the editor's first request, which is answered with the error."""
_DAY = 24 * 3600.0


class Remote(NamedTuple):
    """The parsed command line."""

    url: str
    options: HttpOptions
    paths: PathMap | None
    give_up_seconds: float
    reports: bool
    """Whether to report lost connections to the client."""
    mcp: Where


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("url")
@click.option(
    "--token", metavar="TOKEN", help="The server's token. Prefer ACCORD_TOKEN: arguments are visible to other users."
)
@click.option("--save-token", is_flag=True, help="Ask for the token, save it for this server, and exit.")
@click.option(
    "--map",
    "maps",
    multiple=True,
    metavar="LOCAL=REMOTE",
    help="A local directory and its path on the agent's machine; may be repeated.",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="Add a header to every request; may be repeated.",
)
@click.option(
    "--ca",
    "ca_file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Trust the certificates in this file (PEM) instead of the system's.",
)
@click.option("--proxy", metavar="URL", help="Connect through this proxy (default: HTTPS_PROXY, NO_PROXY).")
@click.option(
    "--retry",
    type=Seconds(),
    default=_DAY,
    metavar="SECONDS",
    help="How long to keep trying to reconnect (default: one day).",
)
@click.option(
    "--mcp",
    type=click.Choice(["local", "remote", "none"]),
    default="local",
    help="Where the editor's stdio MCP servers run: here if the agent supports it (default), remotely, or nowhere.",
)
@click.option("--report-interruptions", "reports", is_flag=True, hidden=True)  # for our own clients
def connect(
    url: str,
    token: str | None,
    save_token: bool,
    maps: tuple[str, ...],
    headers: tuple[str, ...],
    ca_file: Path | None,
    proxy: str | None,
    retry: float,
    reports: bool,
    mcp: Where,
) -> int:
    """Make the remote agent at URL available on standard input and output.

    Editors start this command like any other agent. If the server is accord serve, lost connections are restored
    without the editor noticing, and nothing is lost or repeated.

    MCP servers that the editor starts by a command run on this machine if the agent supports it (MCP over ACP), and
    the agent calls their tools through the connection. Otherwise they are left out, and standard error names them.

    The token comes from --token, ACCORD_TOKEN, --save-token, or the server itself if it runs on this machine.

    \b
    Examples:
      accord connect https://agents.example.org/acp
      accord connect wss://agents.example.org/acp --map /home/me/app=/srv/app
      accord connect https://agents.example.org/acp --save-token
      accord editors zed --agent https://agents.example.org/acp --write"""
    from accord.errors import LaunchError
    from accord.remote.target import check_url

    try:
        url = check_url(url)
    except LaunchError as error:
        raise click.UsageError(str(error)) from None
    if save_token:
        return _save(url, token)
    from accord.cli.support.errors import configure_logging

    configure_logging()
    import asyncio

    return asyncio.run(_connect(_parse(url, token, maps, headers, ca_file, proxy, retry, reports, mcp)))


def _parse(
    url: str,
    token: str | None,
    maps: tuple[str, ...],
    headers: tuple[str, ...],
    ca_file: Path | None,
    proxy: str | None,
    retry: float,
    reports: bool,
    mcp: Where,
) -> Remote:
    from accord.errors import ConfigError
    from accord.remote.paths import PathMap, parse_mapping
    from accord.transports.http.client import HttpOptions

    try:
        mappings = [parse_mapping(each) for each in maps]
    except ConfigError as error:
        raise click.UsageError(f"--map {error}") from None
    options = HttpOptions(headers=dict(map(_header, headers)), token=token, ca_file=ca_file, proxy=proxy)
    return Remote(url, options, PathMap(mappings) if mappings else None, retry, reports, mcp)


def _header(text: str) -> tuple[str, str]:
    name, found, value = text.partition(":")
    if not found or not name.strip() or any(letter in text for letter in "\r\n\0"):
        raise click.UsageError(f"--header {text!r}: expected 'NAME: VALUE'")
    return name.strip(), value.strip()


def _save(url: str, token: str | None) -> int:
    from accord.remote.tokens import SavedTokens, server_of

    token = (token or click.prompt("Token", hide_input=True, err=True)).strip()
    if not token or not token.isascii() or any(map(str.isspace, token)):
        raise CommandError("that isn't a token: expected ASCII characters without spaces")
    saved = SavedTokens()
    saved.save(url, token)
    click.echo(f"Saved the token for {server_of(url)} in {saved.path}", err=True)
    return 0


async def _connect(remote: Remote) -> int:
    from accord.errors import LaunchError
    from accord.remote.local_servers import LocalServers
    from accord.remote.relay import Relay
    from accord.remote.terminal_logins import TerminalLogins
    from accord.transports.stdio import StdioTransport

    paths, servers, logins = remote.paths, LocalServers(remote.mcp, _report_servers), TerminalLogins()
    to_remote = paths.map_outgoing if paths is not None else _pass_through
    to_local = paths.map_incoming if paths is not None else _pass_through
    relay = Relay(
        StdioTransport.open(),
        outgoing=lambda block: to_remote(servers.change_outgoing(logins.change_outgoing(block))),
        incoming=lambda block: logins.change_incoming(servers.change_incoming(to_local(block))),
        on_skip=_report_skipped,
    )
    relay.start()  # before the connection opens: if that fails, the editor's first request gets the error
    try:
        right = await _open(remote, relay)
    except LaunchError as error:
        await relay.refuse(_code(error), str(error), WAIT_SECONDS)
        raise CommandError(f"{error}{_advice(error)}") from None
    servers.send = lambda line: right.send(to_remote(line))
    try:
        end = await relay.run(right)
    finally:
        await servers.close()
    if end.is_left or end.error is None:
        return 0
    raise CommandError(str(end.error))


async def _open(remote: Remote, relay: Relay) -> Transport:
    from accord.remote.resuming_transport import Retry
    from accord.remote.target import open_url

    def report(change: Interruption) -> None:
        _report(change)
        if remote.reports:
            relay.report_interruption(change)

    retry = Retry(give_up_seconds=remote.give_up_seconds)
    return await open_url(remote.url, options=remote.options, retry=retry, on_change=report, resets=False)


def _report(change: Interruption) -> None:
    """Report interruptions on standard error, which editors log."""
    match change.state:
        case "lost":
            click.echo(f"accord: connection lost ({change.detail}); reconnecting…", err=True)
        case "resumed":
            click.echo(f"accord: reconnected after {change.seconds:.1f} s; nothing was lost", err=True)


def _pass_through(block: bytes) -> bytes:
    return block


def _report_servers(text: str) -> None:
    click.echo(f"accord: {text}", err=True)


def _report_skipped(size: int) -> None:
    click.echo(f"accord: skipped a message of {size} bytes: it is too large", err=True)


def _code(error: LaunchError) -> int:
    from accord.errors import AUTH_REQUIRED, INTERNAL_ERROR

    return AUTH_REQUIRED if error.stage == "auth" else INTERNAL_ERROR


def _advice(error: LaunchError) -> str:
    if error.stage == "auth":
        return "\nSet ACCORD_TOKEN, or save a token: accord connect URL --save-token"
    return "\nFor details, run: accord doctor URL" if error.stage in ("dns", "connect", "tls", "http") else ""
