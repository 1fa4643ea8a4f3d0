"""accord serve: serve an agent to other machines, editors and web pages; accord serve token: manage their tokens."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accord.cli.support.complete import complete_agents
from accord.cli.support.errors import CommandError
from accord.cli.support.options import Seconds, parse_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from accord.config.command import Resolved
    from accord.hub.hub import Hub
    from accord.hub.spawner import Spawner
    from accord.policy.engine import Policy
    from accord.server.limits import ServerLimits
    from accord.server.server import Server, ServerOptions

COMMAND = "accord.command"
"""Where the words after -- are in the context."""
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}


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
    help="What to do with a running turn when its last client is gone.",
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
    _check(given)
    import asyncio

    return asyncio.run(_run(given, ctx.meta.get(COMMAND)))


async def _run(given: Mapping[str, Any], command: Sequence[str] | None) -> int:
    try:
        import hypercorn  # noqa: F401
    except ImportError:
        raise CommandError("accord serve needs another package: pip install 'accord-acp[serve]'") from None
    import asyncio

    from accord.cli.support.served_status import publish_sessions
    from accord.server.server import Server

    root = given["root"].resolve()
    found = _resolve(given["agent"], command, root)
    options = _options(given)
    spawner = _spawner(found, given)
    hub = _hub(spawner, given, root, found.name)
    publishing = asyncio.ensure_future(publish_sessions(hub, found.name))
    try:
        server = Server(hub, options, on_problem=lambda words: click.echo(words, err=True))
        server.add_hub_metrics(hub)
        await server.run(lambda: _print_banner(server, spawner.describe(), root, show_token=given["show_token"]))
    finally:
        publishing.cancel()
        await asyncio.gather(publishing, return_exceptions=True)
        await hub.close()
    return 0


def _check(given: Mapping[str, Any]) -> None:
    """Refuse options that contradict each other, or that would expose the agent."""
    from accord.server.web import is_loopback, normalize_origin

    host, is_local = given["host"], is_loopback(given["host"])
    if (given["tls_cert"] is None) != (given["tls_key"] is None):
        raise click.UsageError("use --tls-cert together with --tls-key")
    if not is_local and given["tls_cert"] is None and not given["behind_proxy"]:
        raise click.UsageError(
            f"refusing to listen on {host} without encryption: tokens and code would be readable on the network. "
            "Use --tls-cert and --tls-key, or put a proxy with TLS in front and use --behind-proxy. "
            "To reach it over SSH, omit --host and run on the other machine: ssh -L 8765:127.0.0.1:8765 THIS_MACHINE"
        )
    if host in ("0.0.0.0", "::") and not given["allow_hosts"]:
        raise click.UsageError(f"--host {host} also needs --allow-host NAME: the name that clients use for this server")
    if given["trust_origins"] and (not is_local or given["behind_proxy"]):
        raise click.UsageError("--trust-origin works only on loopback and without --behind-proxy")
    if given["sandbox"] == "docker" and not given["image"]:
        raise click.UsageError("--sandbox docker needs --image IMAGE")
    if not given["network"] and given["sandbox"] == "none":
        raise click.UsageError("--no-network needs --sandbox bubblewrap or --sandbox docker")
    for origin in (*given["allow_origins"], *given["trust_origins"]):
        try:
            normalize_origin(origin)
        except ValueError as error:
            raise click.UsageError(str(error)) from None


def _resolve(agent: str | None, command: Sequence[str] | None, root: Path) -> Resolved:
    """Find the agent: the command after --, the named one, the default one, or the built-in one."""
    from accord.config.command import BUILT_IN, Resolved, built_in, command_line, is_command_line

    if command is not None:
        if agent is not None:
            raise click.UsageError("use --agent or a command after --, not both")
        # The agent starts in the directory of its session.
        program = os.path.abspath(command[0]) if os.path.dirname(command[0]) else command[0]
        return Resolved(Path(program).name, [program, *command[1:]], {}, "inherit", "a command line")
    if agent == BUILT_IN:
        return built_in()
    if agent is not None and is_command_line(agent):
        return command_line(agent)
    from accord.cli.support.launch import ask_and_install
    from accord.config.agents import resolve
    from accord.policy.project import load_configuration

    settings = load_configuration(root).settings
    name = agent or settings.chosen_agent
    return resolve(name, settings, install=ask_and_install) if name is not None else built_in()


def _spawner(found: Resolved, given: Mapping[str, Any]) -> Spawner:
    from accord.config.environment import environment

    if given["sandbox"] == "docker":
        from accord.server.spawners import DockerSpawner

        container = DockerSpawner(given["image"], found.argv, found.env, network=given["network"])
        container.check()
        return container
    env = environment(found.environment, found.env)
    if given["sandbox"] == "bubblewrap":
        from accord.config.command import built_in
        from accord.config.directories import data_directory
        from accord.server.spawners import BubblewrapSpawner

        # The built-in agent saves its sessions there.
        writable = [data_directory()] if found.argv == built_in().argv else []
        sandbox = BubblewrapSpawner(found.argv, env, network=given["network"], writable=writable)
        sandbox.check()
        return sandbox
    from accord.hub.spawner import CommandSpawner

    return CommandSpawner(found.argv, env)


def _hub(spawner: Spawner, given: Mapping[str, Any], root: Path, agent: str) -> Hub:
    from accord.config.served_agents import serve_directory
    from accord.errors import StoreFailed
    from accord.hub.budgets import Budget, Budgets
    from accord.hub.event_log import MemoryEventLog
    from accord.hub.hub import MAX_SESSION_BYTES, Hub
    from accord.hub.sqlite_log import SqliteEventLog

    budget = Budget(
        sessions=given["max_sessions"] or 1000,
        turns=given["max_turns"],
        tokens_per_day=given["max_tokens_per_day"],
        cost_per_day=given["max_cost_per_day"],
    )
    if given["memory"]:
        log: Any = MemoryEventLog()
    else:
        file = given["sessions"] or serve_directory() / "sessions.sqlite"
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            log = SqliteEventLog(file)
        except StoreFailed as error:
            raise CommandError(f"{error}, or use --sessions FILE or --memory") from None
    return Hub(
        spawner,
        log=log,
        isolation=given["isolation"],
        permissions=given["permissions"],
        on_disconnect=given["on_disconnect"],
        grace_seconds=given["grace_seconds"],
        client_files=given["client_files"],
        root=root,
        policy=_policy(given, root, agent),
        budgets=Budgets(budget),
        shared_sessions=given["share_sessions"],
        max_session_bytes=given["max_session_size"] or MAX_SESSION_BYTES,
    )


def _policy(given: Mapping[str, Any], root: Path, agent: str) -> Policy:
    from accord.policy.audit import Audit
    from accord.policy.project import build_policy, load_configuration

    return build_policy(load_configuration(root), root, agent, parse_rules(given), Audit())


def _options(given: Mapping[str, Any]) -> ServerOptions:
    from accord.server.listener import Address
    from accord.server.server import ServerOptions

    address = Address(given["host"], given["port"], given["tls_cert"], given["tls_key"])
    try:
        from accord.server.application import Routes

        Routes(given["path"], given["aliases"], given["prefix"])
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return ServerOptions(
        address=address,
        path=given["path"],
        aliases=given["aliases"],
        prefix=given["prefix"],
        behind_proxy=given["behind_proxy"],
        allow_hosts=given["allow_hosts"],
        allow_origins=given["allow_origins"],
        trust_origins=given["trust_origins"],
        limits=_limits(given),
        drain_seconds=given["drain_seconds"],
        access_log=given["access_log"],
        audit_log=given["audit_log"],
    )


def _limits(given: Mapping[str, Any]) -> ServerLimits:
    from accord.server.limits import ServerLimits

    names = {
        "max_body": "max_body_bytes",
        "max_connections": "max_connections",
        "max_connections_per_token": "max_connections_per_principal",
        "max_sockets": "max_sockets",
        "max_sockets_per_address": "max_sockets_per_address",
        "max_rate": "requests_per_second",
        "max_idle": "idle_seconds",
        "max_lifetime": "lifetime_seconds",
    }
    return ServerLimits(**{limit: given[name] for name, limit in names.items() if given[name] is not None})


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


@serve.group()
def token() -> None:
    """Create, list and revoke tokens for other machines.

    \b
    Examples:
      accord serve token new laptop --expires 4w
      accord serve token list
      accord serve token revoke laptop
    """


@token.command()
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(["driver", "watcher", "admin"]),
    default="driver",
    show_default=True,
    help="Rights: send prompts (driver), only watch (watcher), or use every session and read the metrics (admin).",
)
@click.option(
    "--expires",
    metavar="WHEN",
    help="When it expires: in 12h, 30d or 4w, or on a date such as 2027-01-31 (default: never).",
)
def new(name: str, role: Any, expires: str | None) -> None:
    """Create a token called NAME and print it. It is printed only once; only its hash is saved.

    \b
    Examples:
      accord serve token new laptop --expires 4w
      accord serve token new screen --role watcher
    """
    from accord.server.tokens import TokenFile

    file = TokenFile()
    click.echo(file.create(name, role, _parse_expiry(expires)))
    click.echo(f"Created the token {name} ({role}). Only its hash is saved, in {file.path}", err=True)


@token.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def list_tokens(as_json: bool) -> None:
    """List tokens with their roles and expiry dates.

    \b
    Examples:
      accord serve token list
      accord serve token list --json
    """
    import time

    from accord.server.tokens import TokenFile

    for record in TokenFile().load():
        state = "never expires"
        if record.expires is not None:
            word = "expired" if record.has_expired(time.time()) else "expires"
            state = f"{word} {_format(record.expires)}"
        if as_json:
            import msgspec

            shown = {"name": record.name, "role": record.role, "created": _format(record.created)}
            expires = None if record.expires is None else _format(record.expires)
            click.echo(msgspec.json.encode({**shown, "expires": expires}))
        else:
            click.echo(f"{record.name}  {record.role}  created {_format(record.created)}  {state}")


@token.command()
@click.argument("name")
def revoke(name: str) -> None:
    """Revoke a token. Running servers close its connections.

    \b
    Examples:
      accord serve token revoke laptop
    """
    from accord.server.tokens import TokenFile

    TokenFile().revoke(name)
    click.echo(f"Revoked {name}", err=True)


def _parse_expiry(text: str | None) -> float | None:
    """Return the time of an `--expires` option, in seconds since the epoch."""
    if text is None:
        return None
    import time
    from datetime import UTC, datetime

    if found := re.fullmatch(r"(\d{1,6})([mhdw])", text.strip()):
        return time.time() + int(found[1]) * _UNITS[found[2]]
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise click.UsageError(
            f"--expires {text!r}: expected a duration such as 12h, 30d or 4w, or a date such as 2027-01-31"
        ) from None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    if moment.timestamp() <= time.time():
        raise click.UsageError(f"--expires {text!r} is in the past")
    return moment.timestamp()


def _format(seconds: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
