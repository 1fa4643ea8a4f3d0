"""accord doctor: walks the way from a name to a working agent, and says where it ends and what to do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import click
import msgspec


class Step(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One station on the way, and what was found there."""

    stage: str
    ok: bool
    found: str
    advice: str = ""
    details: dict[str, Any] = {}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("agent", required=False)
@click.option("--prompt", help="Also send this prompt, to see whether the agent answers.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per station.")
@click.option("--timeout", type=float, default=60.0, show_default=True, help="Seconds for each wait.")
@click.option("--cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path("."))
def doctor(agent: str | None, prompt: str | None, as_json: bool, timeout: float, cwd: Path) -> int:
    """Say in words why AGENT does not start, and what to do.

    The stations: configuration, resolve, spawn, first byte, initialize, auth, session, prompt (only with --prompt).
    Nothing is logged in to, opened or changed."""
    return asyncio.run(_walk(agent, prompt, as_json, timeout, cwd.resolve()))


async def _walk(agent: str | None, prompt: str | None, as_json: bool, timeout: float, cwd: Path) -> int:
    good = True
    async for step in stations(agent, prompt, timeout, cwd):
        good = good and step.ok
        if as_json:
            click.echo(msgspec.json.encode(step))
            continue
        click.echo(f"{'ok  ' if step.ok else 'FAIL'} {step.stage}: {step.found}")
        for key, value in step.details.items():
            click.echo(f"       {key}: {value if isinstance(value, str) else msgspec.json.encode(value).decode()}")
        if step.advice:
            click.echo(f"     → {step.advice}")
    return 0 if good else 1


async def stations(agent: str | None, prompt: str | None, timeout: float, cwd: Path) -> AsyncIterator[Step]:
    """The stations in order, up to the first that fails."""
    from accord.config.resolve import resolve
    from accord.config.settings import ConfigError, load
    from accord.errors import AccordError, LaunchError

    try:
        loaded = load(cwd)
    except ConfigError as error:
        yield Step(stage="configuration", ok=False, found=str(error), advice="mend the file, or move it away")
        return
    files = ", ".join(map(str, loaded.files)) or "no file; defaults"
    yield Step(stage="configuration", ok=True, found=files, details={"notes": loaded.notes} if loaded.notes else {})
    target = agent or loaded.settings.default_agent
    if target is None:
        yield Step(
            stage="resolve",
            ok=False,
            found="no agent was named and none is the default",
            advice="accord doctor AGENT, or set default_agent in the configuration",
        )
        return
    try:
        found = resolve(target, loaded.settings)
    except (LaunchError, AccordError) as error:
        yield Step(stage="resolve", ok=False, found=str(error), advice="accord agents list shows what is configured")
        return
    from accord.config.mask import masked

    command = masked(" ".join(found.argv), found.env)
    yield Step(stage="resolve", ok=True, found=f"{found.how}: {command}")
    async for step in _started(found, prompt, timeout, cwd):
        yield step


async def _started(found: Any, prompt: str | None, timeout: float, cwd: Path) -> AsyncIterator[Step]:
    from accord.client.connect import connect
    from accord.config.environment import environment
    from accord.config.mask import masked
    from accord.errors import AccordError, AuthRequired
    from accord.transports.subprocess import SubprocessTransport

    env = environment(found.environment, found.env)
    try:
        transport = await SubprocessTransport.launch(found.argv, cwd=str(cwd), env=env)
    except AccordError as error:
        yield Step(stage="spawn", ok=False, found=masked(str(error), env), advice="check the command and its path")
        return
    yield Step(stage="spawn", ok=True, found="the process runs")
    deadlines = {"first byte": timeout, "initialize": timeout, "session": timeout, "call": timeout}
    try:
        connected = await connect(transport, cwd=cwd, versions={1, 2}, deadlines=deadlines)
    except AccordError as error:
        stage = getattr(error, "stage", "") or "initialize"
        yield Step(stage=stage, ok=False, found=masked(str(error), env), advice=_advice(stage, error))
        return
    async with connected:
        offers = connected.offers
        info = offers.info
        who = f"{info.title or info.name} {info.version}" if info is not None else "an agent without a name"
        yield Step(
            stage="initialize",
            ok=True,
            found=f"{who}, protocol version {connected.version}",
            details=_capabilities(offers),
        )
        methods = [f"{method.id} ({method.kind}): {method.name}" for method in connected.auth_methods]
        try:
            session = await connected.new_session()
        except AuthRequired as error:
            ways = "; ".join(methods) or "the agent names no way to"
            yield Step(stage="auth", ok=False, found=masked(str(error), env), advice=f"log in: {ways}")
            return
        except AccordError as error:
            stage = getattr(error, "stage", "") or "session"
            yield Step(stage=stage, ok=False, found=masked(str(error), env), advice=_advice(stage, error))
            return
        yield Step(stage="auth", ok=True, found="no login is needed", details={"methods": methods} if methods else {})
        yield Step(stage="session", ok=True, found=session.id)
        if prompt is not None:
            yield await _prompted(session, prompt, timeout, env)


async def _prompted(session: Any, prompt: str, timeout: float, env: dict[str, str]) -> Step:
    from accord.config.mask import masked
    from accord.errors import AccordError

    try:
        async with asyncio.timeout(timeout):
            turn = await session.prompt(prompt)
    except TimeoutError:
        found = f"no end of the turn within {timeout:g} s"
        return Step(stage="prompt", ok=False, found=found, advice="try a longer --timeout")
    except AccordError as error:
        return Step(stage="prompt", ok=False, found=masked(str(error), env), advice=_advice("prompt", error))
    return Step(stage="prompt", ok=True, found=f"{turn.stop_reason}: {turn.text[:200]}")


def _capabilities(offers: Any) -> dict[str, Any]:
    names = ["load", "resume", "list", "close", "delete", "fork", "image", "audio", "resource", "logout"]
    return {"offers": [name for name in names if getattr(offers, name)], "mcp": sorted(offers.mcp)}


def _advice(stage: str, error: Exception) -> str:
    from accord.errors import PeerDied

    if isinstance(error, PeerDied):
        return "run the command yourself in a terminal: its own message says what it misses"
    return {
        "first byte": "it runs but says nothing: does it speak ACP on standard input and output, and is it installed?",
        "initialize": "it speaks, but its answer is not the protocol's; try a newer version of the agent",
        "session": "the agent is there but opens no session; its message says why",
        "prompt": "the agent is there but the turn failed; its message says why",
    }.get(stage, "")
