"""accord serve: serve an agent to other machines, editors and web pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accord.cli.serve_token import token
from accord.cli.support.complete import complete_agents
from accord.cli.support.errors import CommandError
from accord.cli.support.options import Seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from accord.server.server import Server

COMMAND = "accord.command"
"""Key of the arguments after -- in the context."""


class ServeGroup(click.Group):
    """A group whose own arguments after -- are the agent's command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[COMMAND] = args[at + 1 :]
            if not ctx.meta[COMMAND]:
                raise click.UsageError("the agent's command is missing after --", ctx)
            args = args[:at]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in self.commands:
            raise click.UsageError(f"no such command {args[0]!r}; put the agent's command after --", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=ServeGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-a",
    "--agent",
    metavar="AGENT",
    shell_complete=complete_agents,
    help="Configured name, registry ID or command line (default: your default agent).",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port; 0 picks a free one."
)
@click.option("--path", default="/acp", show_default=True, help="URL path of the agent.")
@click.option("--alias", "aliases", multiple=True, metavar="PATH", help="Additional URL path, such as /message.")
@click.option("--prefix", default="", metavar="PATH", help="Path prefix of a proxy, such as /agents.")
@click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path("."),
    help="Sessions must work in this directory or below it (default: the current one).",
)
@click.option(
    "--isolation",
    type=click.Choice(["session", "principal", "shared"]),
    default="session",
    show_default=True,
    help="One agent process per session, per principal (token), or shared by everyone.",
)
@click.option(
    "--permissions",
    default="first",
    show_default=True,
    metavar="POLICY",
    help="Who answers permission requests: first, originator, quorum:N or role:ROLE.",
)
@click.option(
    "--on-disconnect",
    type=click.Choice(["keep", "pause", "cancel"]),
    default="keep",
    show_default=True,
    help="Keep, pause or cancel a running turn when its last client disconnects.",
)
@click.option("--grace-seconds", type=Seconds(), default=30.0, show_default=True, help="How long to wait before that.")
@click.option("--share-sessions", is_flag=True, help="Let every token attach to every session, with its own role.")
@click.option("--client-files", is_flag=True, help="Use the client's files and terminals instead of this machine's.")
@click.option("--allow", multiple=True, metavar="RULE", help="Allow without asking, as in accord run --allow.")
@click.option("--ask", multiple=True, metavar="RULE", help="Always ask.")
@click.option("--deny", multiple=True, metavar="RULE", help="Never allow.")
@click.option(
    "--sandbox",
    type=click.Choice(["none", "bubblewrap", "docker"]),
    default="none",
    show_default=True,
    help="Run the agent in a sandbox.",
)
@click.option("--image", metavar="IMAGE", help="Image for --sandbox docker.")
@click.option(
    "--network/--no-network", default=True, help="Whether an agent in a sandbox can use the network (default: yes)."
)
@click.option("--tls-cert", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="TLS certificate (PEM).")
@click.option("--tls-key", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Its private key (PEM).")
@click.option("--behind-proxy", is_flag=True, help="A proxy in front adds TLS; trust its X-Forwarded headers.")
@click.option(
    "--allow-host", "allow_hosts", multiple=True, metavar="NAME", help="A host name that clients use for this server."
)
@click.option(
    "--allow-origin", "allow_origins", multiple=True, metavar="ORIGIN", help="Let web pages from ORIGIN connect."
)
@click.option(
    "--trust-origin",
    "trust_origins",
    multiple=True,
    metavar="ORIGIN",
    help="Let web pages from ORIGIN connect without a token; loopback only.",
)
@click.option("--max-body", type=click.IntRange(1), metavar="BYTES", help="Largest message (default: 64 MiB).")
@click.option("--max-connections", type=click.IntRange(1), metavar="N", help="Maximum ACP connections (default: 1000).")
@click.option("--max-connections-per-token", type=click.IntRange(1), metavar="N", help="… per token (default: 250).")
@click.option("--max-sockets", type=click.IntRange(1), metavar="N", help="Maximum TCP connections (default: 2000).")
@click.option("--max-sockets-per-address", type=click.IntRange(1), metavar="N", help="… per address (default: 500).")
@click.option(
    "--max-rate",
    type=click.FloatRange(0, min_open=True),
    metavar="N",
    help="Requests per second, per token (default: 200).",
)
@click.option("--max-idle", type=Seconds(), metavar="SECONDS", help="Close connections that are idle for this long.")
@click.option("--max-lifetime", type=Seconds(), metavar="SECONDS", help="Close connections after this time.")
@click.option("--max-sessions", type=click.IntRange(1), metavar="N", help="Open sessions per token (default: 1000).")
@click.option(
    "--max-session-size",
    type=click.IntRange(10_000),
    metavar="BYTES",
    help="Saved history of a session; the oldest part is dropped (default: 256 MiB).",
)
@click.option("--max-turns", type=click.IntRange(1), metavar="N", help="Running turns per token.")
@click.option(
    "--max-tokens-per-day", type=click.IntRange(1), metavar="N", help="Model tokens per day, per bearer token."
)
@click.option(
    "--max-cost-per-day", type=click.FloatRange(0, min_open=True), metavar="N", help="Cost per day, per bearer token."
)
@click.option(
    "--drain-seconds",
    type=Seconds(),
    default=30.0,
    show_default=True,
    help="How long turns may take to finish at exit.",
)
@click.option("--access-log", default="", metavar="FILE", help="Access log: a file, - for standard output, or none.")
@click.option("--audit-log", default="", metavar="FILE", help="Audit log: a file, - for standard output, or none.")
@click.option(
    "--sessions", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Save sessions in this file."
)
@click.option("--memory", is_flag=True, help="Don't save sessions; they end with the server.")
@click.option("--show-token", is_flag=True, help="Print the token that local clients use.")
@click.pass_context
def serve(ctx: click.Context, /, **given: Any) -> int | None:
    """Serve an agent over HTTP and WebSocket.

    Clients on this machine find the token automatically: accord chat URL, accord run --agent URL,
    accord connect URL.

    \b
    Examples:
      accord serve
      accord serve -- python my_agent.py
      accord serve token new laptop --expires 4w
    """
    if ctx.invoked_subcommand is not None:
        return None
    import asyncio

    from accord.cli.support.serve_setup import check

    check(given)

    return asyncio.run(_run(given, ctx.meta.get(COMMAND)))


async def _run(given: Mapping[str, Any], command: Sequence[str] | None) -> int:
    try:
        import hypercorn.asyncio  # noqa: F401
    except ImportError:
        raise CommandError("accord serve needs another package: pip install 'accord-acp[serve]'") from None
    import asyncio
    import gc

    from accord.cli.support.serve_setup import create_hub, create_spawner, resolve_agent, server_options
    from accord.cli.support.served_status import publish_sessions
    from accord.server.server import Server

    root = given["root"].resolve()
    found = resolve_agent(given["agent"], command, root)
    options = server_options(given)
    spawner = create_spawner(found, given)
    hub = create_hub(spawner, given, root, found.name)
    publishing = asyncio.ensure_future(publish_sessions(hub, found.name))
    try:
        server = Server(hub, options, on_problem=lambda message: click.echo(message, err=True))
        server.add_hub_metrics(hub)
        gc.freeze()  # what is loaded by now stays loaded, so no collection has to visit it, which delays all clients
        await server.run(lambda: _print_banner(server, spawner.describe(), root, show_token=given["show_token"]))
    finally:
        publishing.cancel()
        await asyncio.gather(publishing, return_exceptions=True)
        await hub.close()
    return 0


def _print_banner(server: Server, agent: str, root: Path, *, show_token: bool) -> None:
    from accord.config.served_agents import ServedAgents

    served = ServedAgents()
    url = server.url
    lines = [
        f"Serving {agent}",
        f"  URL       {url}",
        f"  Root      {root}",
        f"  Token     {server.local_token if show_token else f'clients on this machine find it in {served.path}'}",
        f"  Connect   accord chat {url}",
        f"            accord connect {url}   (for editors)",
        "  Remote    accord serve token new NAME   (a token for another machine)",
        "Press Ctrl-C to stop.",
    ]
    click.echo("\n".join(lines))


serve.add_command(token)
