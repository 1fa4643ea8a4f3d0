"""The options of `accord serve`: checked, and turned into an agent, a hub and a server's options."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from accord.cli.support.errors import CommandError
from accord.cli.support.options import parse_rules

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from accord.config.command import Resolved
    from accord.hub.hub import Hub
    from accord.hub.spawner import Spawner
    from accord.policy.engine import Policy
    from accord.server.limits import ServerLimits
    from accord.server.server import ServerOptions


def check(given: Mapping[str, Any]) -> None:
    """Refuse contradictory options, and options that would expose the agent."""
    from accord.errors import ConfigError
    from accord.hub.permission_policy import parse_policy
    from accord.server.web import is_loopback, normalize_origin

    host, is_local = given["host"], is_loopback(given["host"])
    if (given["tls_cert"] is None) != (given["tls_key"] is None):
        # Redaction takes a word after --tls-key for the key.
        raise click.UsageError("use both --tls-cert and --tls-key, or neither")
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
    if given["image"] and given["sandbox"] != "docker":
        raise click.UsageError("--image needs --sandbox docker")
    if given["memory"] and given["sessions"]:
        raise click.UsageError("use --memory or --sessions, not both")
    if not given["network"] and given["sandbox"] == "none":
        raise click.UsageError("--no-network needs --sandbox bubblewrap or --sandbox docker")
    try:
        parse_policy(given["permissions"])
    except ConfigError as error:
        raise click.UsageError(f"--permissions: {error}") from None
    for origin in (*given["allow_origins"], *given["trust_origins"]):
        try:
            normalize_origin(origin)
        except ValueError as error:
            raise click.UsageError(str(error)) from None


def resolve_agent(agent: str | None, command: Sequence[str] | None, root: Path) -> Resolved:
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


def create_spawner(found: Resolved, given: Mapping[str, Any]) -> Spawner:
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


def create_hub(spawner: Spawner, given: Mapping[str, Any], root: Path, agent: str) -> Hub:
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


def server_options(given: Mapping[str, Any]) -> ServerOptions:
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
