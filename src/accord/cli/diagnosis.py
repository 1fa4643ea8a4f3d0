"""The stations of `accord doctor`: each is tried, and tells what was found there and what to do."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from accord.config.mask import masked
from accord.errors import AccordError, AuthRequired, LaunchError, PeerDied

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.client.session import Session
    from accord.config.command import Resolved
    from accord.config.settings import Loaded
    from accord.policy.sources import Placed


class Step(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One station on the way, and what was found there."""

    stage: str
    ok: bool
    found: str
    advice: str = ""
    details: dict[str, Any] = {}


async def stations(agent: str | None, prompt: str | None, timeout: float, cwd: Path) -> AsyncIterator[Step]:
    """The stations in order, up to the first without which the next cannot be reached."""
    from accord.policy.project import configuration

    try:
        loaded = configuration(cwd)
    except AccordError as error:
        yield Step(stage="configuration", ok=False, found=str(error), advice="mend the file, or move it away")
        return
    yield _configuration(loaded)
    target = agent or loaded.settings.chosen_agent
    yield _permissions(loaded, cwd, target or "")
    if target is None and loaded.settings.agents:
        yield Step(
            stage="resolve",
            ok=False,
            found="no agent was named and none is the default",
            advice="name one: accord doctor AGENT; or add one: accord agents add NAME -- COMMAND",
        )
        return
    news: list[Step] = []
    found = _resolve(target, loaded, news)
    for step in news:
        yield step
    if found is not None:
        async for step in _started(found, prompt, timeout, cwd, loaded):
            yield step


def _configuration(loaded: Loaded) -> Step:
    from accord.version import __version__

    details: dict[str, Any] = {
        "accord": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.machine()}",
    }
    if loaded.notes:
        details["note"] = loaded.notes
    files = ", ".join(map(str, loaded.files)) or "no file; everything is as it comes"
    return Step(stage="configuration", ok=True, found=files, details=details)


def _permissions(loaded: Loaded, cwd: Path, agent: str) -> Step:
    """The rules that hold here, those that cannot be read, and those that have matched nothing so far."""
    from accord.policy.audit import Audit
    from accord.policy.project import policy

    audit = Audit()
    try:
        rules = policy(loaded, cwd, agent)
    except AccordError as error:
        return Step(stage="permissions", ok=False, found=str(error), advice="mend the rule, or take it out")
    unused = [_idle(placed, cwd, loaded) for placed in rules.idle(audit.rules_used())]
    notes = [*rules.notes, *([] if _can_write(audit.path) else [f"{audit.path} cannot be written"])]
    details: dict[str, Any] = {"note": notes} if notes else {}
    if unused:
        details["matched nothing so far"] = unused
    count = len(rules.unused())
    found = f"{count} rule{'' if count == 1 else 's'}; decisions are written to {audit.path}"
    advice = "a rule that never matches may be misspelt; paths are relative to the project" if unused else ""
    return Step(stage="permissions", ok=True, found=found, advice=advice, details=details)


def _can_write(path: Path) -> bool:
    """Whether a file could be written, as far as can be told without doing so."""
    there = path
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    return os.access(there, os.W_OK) and (there == path or there.is_dir())


def _idle(placed: Placed, cwd: Path, loaded: Loaded) -> str:
    """A rule that matched nothing, where it stands, and why that may be."""
    from accord.policy.hints import hint
    from accord.policy.sources import NAMES
    from accord.policy.text import show

    home, agents = os.path.expanduser("~"), loaded.settings.agents
    why = hint(placed.rule, project=str(cwd), home=home, agents=agents, now=time.time())
    return f"{show(placed.rule)} ({NAMES[placed.source]}){f': {why}' if why else ''}"


def _resolve(target: str | None, loaded: Loaded, news: list[Step]) -> Resolved | None:
    from accord.cli.begin import install
    from accord.config.command import built_in
    from accord.config.registry import RegistryEntry
    from accord.config.resolve import resolve
    from accord.config.settings import AgentEntry

    def installing(entry: RegistryEntry) -> AgentEntry:
        news.append(Step(stage="resolve", ok=True, found=f"{entry.id} {entry.version}, in {loaded.settings.registry}"))
        made = install(entry)
        news.append(Step(stage="install", ok=True, found=f"{entry.id} {entry.version} is installed now"))
        return made

    try:
        found = built_in() if target is None else resolve(target, loaded.settings, install=installing)
    except AccordError as error:
        stage = "install" if news else "resolve"
        advice = (
            "check the network and the registry's entry, then try again"
            if news
            else "accord agents list shows what is configured"
        )
        news.append(Step(stage=stage, ok=False, found=masked(str(error)), advice=advice))
        return None
    if not news:
        command = masked(" ".join(found.argv), found.env)
        details = {"environment": found.environment} if found.environment != "inherit" else {}
        news.append(Step(stage="resolve", ok=True, found=f"{found.how}: {command}", details=details))
    return found


async def _started(
    found: Resolved, prompt: str | None, timeout: float, cwd: Path, loaded: Loaded
) -> AsyncIterator[Step]:
    from accord.client.connect import connect
    from accord.config.environment import environment
    from accord.transports.subprocess import SubprocessTransport

    try:
        env = environment(found.environment, found.env)
        transport = await SubprocessTransport.launch(found.argv, cwd=str(cwd), env=env)
    except LaunchError as error:
        yield Step(stage=error.stage, ok=False, found=masked(str(error), found.env), advice=_spawn_advice(found))
        return
    yield Step(stage="spawn", ok=True, found=f"process {transport.child.pid}")
    deadlines = {"first byte": timeout, "initialize": timeout, "session": timeout, "call": timeout}
    try:
        connected = await connect(transport, cwd=cwd, versions={1, 2}, deadlines=deadlines)
    except AccordError as error:
        yield _failed(getattr(error, "stage", "") or "initialize", error, env)
        return
    async with connected:
        yield Step(stage="first byte", ok=True, found="it answers on standard output")
        yield _greeted(connected, loaded)
        async for step in _session(connected, prompt, timeout, env):
            yield step


def _greeted(connected: ConnectedAgent, loaded: Loaded) -> Step:
    from accord.config.servers import choose

    offers = connected.offers
    who = f"{offers.info.title or offers.info.name} {offers.info.version}" if offers.info else "an agent without a name"
    names = ["load", "resume", "list", "close", "delete", "fork", "image", "audio", "resource", "logout"]
    details: dict[str, Any] = {
        "offers": ", ".join(name for name in names if getattr(offers, name)) or "prompts alone",
        "mcp servers over": ", ".join(sorted(offers.mcp)) or "nothing",
    }
    stray = connected.connection.first_stray
    notes = [f"it prints on standard output what is no message: {stray}"] if stray else []
    notes += choose(loaded.settings.mcp_servers, offers.mcp).notices
    if notes:
        details["note"] = notes
    return Step(stage="initialize", ok=True, found=f"{who}, protocol version {connected.version}", details=details)


async def _session(
    connected: ConnectedAgent, prompt: str | None, timeout: float, env: dict[str, str]
) -> AsyncIterator[Step]:
    methods = _methods(connected)
    try:
        session = await connected.new_session()
    except AuthRequired as error:
        yield Step(stage="auth", ok=False, found=masked(str(error), env), advice=_ways(connected))
        return
    except AccordError as error:
        yield _failed(getattr(error, "stage", "") or "session", error, env)
        return
    yield Step(stage="auth", ok=True, found="no login is needed", details={"method": methods} if methods else {})
    yield Step(stage="session", ok=True, found=session.id, details=_options(session))
    if prompt is None:
        yield Step(stage="prompt", ok=True, found="not tried; --prompt TEXT does")
    else:
        yield await _prompted(connected, session, prompt, timeout, env)
    await _leave_nothing(connected, session)


def _methods(connected: ConnectedAgent) -> list[str]:
    return [f"{method.id}: {method.name} ({method.kind})" for method in connected.auth_methods]


def _ways(connected: ConnectedAgent) -> str:
    methods = _methods(connected)
    return f"log in with: {'; '.join(methods)}" if methods else "the agent names no way to log in; see its manual"


def _options(session: Session) -> dict[str, Any]:
    options = [
        f"{option.id} = {str(option.value).lower() if option.is_boolean else option.value}"
        f" ({', '.join(choice.value for choice in option.choices) or 'true, false'})"
        for option in session.options
    ]
    return {"option": options} if options else {}


async def _prompted(
    connected: ConnectedAgent, session: Session, prompt: str, timeout: float, env: dict[str, str]
) -> Step:
    try:
        async with asyncio.timeout(timeout):
            turn = await session.prompt(prompt)
    except TimeoutError:
        found = f"no end of the turn within {timeout:g} s"
        return Step(stage="prompt", ok=False, found=found, advice="try a longer --timeout")
    except AuthRequired as error:
        return Step(stage="auth", ok=False, found=masked(str(error), env), advice=_ways(connected))
    except AccordError as error:
        return _failed("prompt", error, env)
    good = turn.stop_reason == "end_turn"
    said = " ".join(turn.text.split())
    return Step(
        stage="prompt",
        ok=good,
        found=f"{turn.stop_reason}: {said[:200] or 'it said nothing'}",
        advice="" if good else "the agent works, and did not come to its end; its words say why",
    )


async def _leave_nothing(connected: ConnectedAgent, session: Session) -> None:
    """The session was for looking only: the agent need not keep it."""
    try:
        await session.close()
        if connected.offers.delete:
            await connected.delete_session(session.id)
    except AccordError:
        return


def _failed(stage: str, error: Exception, env: dict[str, str]) -> Step:
    return Step(stage=stage, ok=False, found=masked(str(error), env), advice=_advice(stage, error))


def _spawn_advice(found: Resolved) -> str:
    path = os.environ.get("PATH", "")
    return f"check the command and its path; searched: {path}" if "/" not in found.argv[0] else "check the path"


def _advice(stage: str, error: Exception) -> str:
    if isinstance(error, PeerDied):
        return "run the command yourself in a terminal: its own message says what it misses"
    return {
        "first byte": "it runs but says nothing: does it speak ACP on standard input and output, or does it need an "
        "argument for that? If it is still installing itself, try a longer --timeout",
        "initialize": "it speaks, but its answer is not the protocol's: try a newer version of the agent",
        "session": "the agent is there but opens no session; its message says why",
        "prompt": "the agent is there but the turn failed; its message says why",
    }.get(stage, "")
