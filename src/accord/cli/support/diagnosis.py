"""The steps of `accord doctor`: each reports what it found and what to do about it."""

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

from accord.cli.support.errors import TRY_VERSION_2
from accord.config.command import BUILT_IN, URLS
from accord.config.redaction import redact_text
from accord.errors import AccordError, AuthRequired, LaunchError, PeerDied, RequestFailed, VersionError
from accord.model.session import arrange_options

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.client.session import Session
    from accord.config.command import Resolved
    from accord.config.settings import Loaded
    from accord.model.requests import AuthMethod
    from accord.policy.sources import SourcedRule
    from accord.transports.base import Transport


class Step(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The result of one step."""

    stage: str
    ok: bool
    found: str
    advice: str = ""
    details: dict[str, Any] = {}
    warns: bool = False
    """Whether the step succeeded with a warning."""


async def run_steps(
    agent: str | None, prompt: str | None, timeout: float, cwd: Path, versions: frozenset[int]
) -> AsyncIterator[Step]:
    """Run the steps in order. Stop at a failed step that the next one needs."""
    from accord.policy.project import load_configuration

    try:
        loaded = load_configuration(cwd)
    except AccordError as error:
        yield Step(stage="configuration", ok=False, found=str(error), advice="fix the file, or move it away")
        return
    yield _configuration(loaded)
    target = agent or loaded.settings.chosen_agent
    yield _permissions(loaded, cwd, target or "")
    if target is None and loaded.settings.agents:
        yield Step(
            stage="resolve",
            ok=False,
            found="no agent named, and no default agent configured",
            advice="name one: accord doctor AGENT; or add one: accord agents add NAME --default -- COMMAND",
        )
        return
    if target is not None and target.strip().lower().startswith(URLS):
        from accord.cli.support.remote_diagnosis import run_remote_steps

        async for step in run_remote_steps(target, prompt, timeout, cwd, loaded, versions):
            yield step
        return
    news: list[Step] = []
    found = _resolve(target, loaded, news)
    for step in news:
        yield step
    if found is not None:
        if target is None or target == BUILT_IN:
            yield await _model(loaded)
        async for step in _start_and_check(found, prompt, timeout, cwd, loaded, versions):
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
    files = ", ".join(map(str, loaded.files)) or "no configuration file; using defaults"
    return Step(stage="configuration", ok=True, found=files, details=details)


def _permissions(loaded: Loaded, cwd: Path, agent: str) -> Step:
    """Report the rules that apply here, invalid ones, and those that have never matched."""
    from accord.policy.audit import Audit
    from accord.policy.project import build_policy

    audit = Audit()
    try:
        rules = build_policy(loaded, cwd, agent)
    except AccordError as error:
        return Step(stage="permissions", ok=False, found=str(error), advice="fix the rule, or remove it")
    unused = [_describe_unused(placed, cwd, loaded) for placed in rules.unused_rules_with_sources(audit.rules_used())]
    notes = [*rules.notes, *([] if _can_write(audit.path) else [f"{audit.path} isn't writable"])]
    details: dict[str, Any] = {"note": notes} if notes else {}
    if unused:
        details["never matched"] = unused
    count = len(rules.unused_rules())
    found = f"{count} rule{'' if count == 1 else 's'}; decisions are logged to {audit.path}"
    advice = "check the spelling of rules that never match; paths are relative to the project" if unused else ""
    return Step(stage="permissions", ok=True, found=found, advice=advice, details=details)


def _can_write(path: Path) -> bool:
    """Return whether a file looks writable."""
    there = path
    while not os.path.lexists(there) and there != there.parent:
        there = there.parent
    return os.access(there, os.W_OK) and (there == path or there.is_dir())


def _describe_unused(placed: SourcedRule, cwd: Path, loaded: Loaded) -> str:
    """Describe a rule that never matched: its source, and a possible reason."""
    from accord.policy.hints import explain_unmatched
    from accord.policy.rule import format_rule
    from accord.policy.sources import SOURCE_NAMES

    home, agents = os.path.expanduser("~"), loaded.settings.agents
    why = explain_unmatched(placed.rule, project=str(cwd), home=home, agents=agents, now=time.time())
    return f"{format_rule(placed.rule)} ({SOURCE_NAMES[placed.source]}){f': {why}' if why else ''}"


def _resolve(target: str | None, loaded: Loaded, news: list[Step]) -> Resolved | None:
    from accord.cli.support.launch import ask_and_install
    from accord.config.agents import resolve
    from accord.config.command import built_in
    from accord.config.registry import RegistryEntry
    from accord.config.settings import AgentEntry

    def install_and_report(entry: RegistryEntry) -> AgentEntry:
        news.append(Step(stage="resolve", ok=True, found=f"{entry.name} {entry.version}"))
        made = ask_and_install(entry)
        news.append(Step(stage="install", ok=True, found=f"installed {entry.name} {entry.version}"))
        return made

    try:
        found = built_in() if target is None else resolve(target, loaded.settings, install=install_and_report)
    except AccordError as error:
        stage = "install" if news else "resolve"
        advice = "accord agents list shows the agents you can name"
        if error.stage == "install":
            advice = "install it, then retry"
        elif news:
            advice = "check the network and the registry entry, then retry"
        news.append(Step(stage=stage, ok=False, found=redact_text(str(error)), advice=advice))
        return None
    if not news:
        command = redact_text(" ".join(found.argv), found.env)
        details = {"environment": found.environment} if found.environment != "inherit" else {}
        news.append(Step(stage="resolve", ok=True, found=f"{found.how}: {command}", details=details))
    return found


async def _model(loaded: Loaded) -> Step:
    """Report the model of new sessions of the built-in agent, and what chose it."""
    from accord.coder.credentials import Keys
    from accord.coder.models.base import ModelError
    from accord.coder.models.catalog import default_model, model
    from accord.coder.offline.context import OFFLINE

    settings, keys = loaded.settings.coder, Keys()
    await keys.read(settings)
    id = default_model(settings, keys)
    key = keys.find(id.partition(":")[0])
    if os.environ.get("ACCORD_MODEL"):
        why = "chosen by ACCORD_MODEL"
    elif settings.model:
        why = "chosen by coder.model in the configuration"
    elif key is not None:
        why = "of the first provider with a key"
    else:
        why = "because no key of a model provider was found"
    if id == OFFLINE:
        return Step(
            stage="model",
            ok=True,
            found=f"the offline model, {why}; it only understands simple requests",
            advice="to use a language model, run: accord login",
            warns=True,
        )
    try:
        model(id, settings, keys)
    except ModelError as error:
        return Step(stage="model", ok=False, found=f"{id}, {why}: {error}", advice="choose another model, or log in")
    details = {"key": f"from {key.source}"} if key is not None else {}
    return Step(stage="model", ok=True, found=f"{id}, {why}", details=details)


async def _start_and_check(
    found: Resolved, prompt: str | None, timeout: float, cwd: Path, loaded: Loaded, versions: frozenset[int]
) -> AsyncIterator[Step]:
    from accord.config.environment import environment
    from accord.transports.subprocess import SubprocessTransport

    try:
        env = environment(found.environment, found.env)
        transport = await SubprocessTransport.launch(found.argv, cwd=str(cwd), env=env)
    except LaunchError as error:
        yield Step(stage=error.stage, ok=False, found=redact_text(str(error), found.env), advice=_spawn_advice(found))
        return
    yield Step(stage="spawn", ok=True, found=f"process {transport.child.pid}")
    async for step in check_agent(transport, prompt, timeout, cwd, loaded, versions, env):
        yield step


async def check_agent(
    transport: Transport,
    prompt: str | None,
    timeout: float,
    cwd: Path,
    loaded: Loaded,
    versions: frozenset[int],
    env: dict[str, str],
) -> AsyncIterator[Step]:
    """Check the protocol: from `initialize` to a prompt. `env` has secrets that aren't printed."""
    from accord.client.connect import connect
    from accord.transports.subprocess import SubprocessTransport

    deadlines = {"first byte": timeout, "initialize": timeout, "session": timeout, "call": timeout}
    try:
        # Offer the same as `run` and `chat`, so that the agent responds the same way. Never log in.
        login = _never_logs_in if isinstance(transport, SubprocessTransport) else False
        connected = await connect(transport, cwd=cwd, versions=versions, deadlines=deadlines, terminal_login=login)
    except AccordError as error:
        yield _fail_step(error.stage or "initialize", error, env)
        return
    async with connected:
        if isinstance(transport, SubprocessTransport):
            yield Step(stage="first byte", ok=True, found="the agent writes to standard output")
        yield _describe_agent(connected, loaded)
        async for step in _session(connected, prompt, timeout, env):
            yield step


async def _never_logs_in(method: AuthMethod) -> bool:
    return False


def _describe_agent(connected: ConnectedAgent, loaded: Loaded) -> Step:
    from accord.config.mcp_servers import choose

    offers = connected.offers
    who = f"{offers.info.title or offers.info.name} {offers.info.version}" if offers.info else "an unnamed agent"
    names = ["load", "resume", "list", "close", "delete", "fork", "image", "audio", "resource", "logout"]
    details: dict[str, Any] = {
        "offers": ", ".join(name for name in names if getattr(offers, name)) or "prompts only",
        "mcp transports": ", ".join(sorted(offers.mcp)) or "none",
    }
    stray = connected.connection.first_stray
    notes = [f"stray output on standard output: {stray}"] if stray else []
    notes += [notice.title for notice in choose(loaded.settings.mcp_servers, offers.mcp).notices]
    if notes:
        details["note"] = notes
    return Step(stage="initialize", ok=True, found=f"{who}, protocol version {connected.version}", details=details)


async def _session(
    connected: ConnectedAgent, prompt: str | None, timeout: float, env: dict[str, str]
) -> AsyncIterator[Step]:
    methods = _login_methods(connected)
    try:
        session = await connected.new_session()
    except AuthRequired as error:
        yield Step(stage="auth", ok=False, found=redact_text(str(error), env), advice=_login_advice(connected))
        return
    except AccordError as error:
        yield _fail_step(error.stage or "session", error, env)
        return
    yield Step(
        stage="auth",
        ok=True,
        found="no login needed",
        details={"method": methods} if methods else {},
    )
    yield Step(stage="session", ok=True, found=session.id, details=_options(session))
    if prompt is None:
        yield Step(stage="prompt", ok=True, found="skipped; use --prompt TEXT to send one")
    else:
        yield await _send_prompt(connected, session, prompt, timeout, env)
    await _delete_session(connected, session)


def _login_methods(connected: ConnectedAgent) -> list[str]:
    return [f"{method.id}: {method.name} ({method.kind})" for method in connected.usable_logins]


def _login_advice(connected: ConnectedAgent) -> str:
    methods = _login_methods(connected)
    if not methods:
        return "the agent lists no login methods; log in with its own program (see its documentation)"
    return f"log in with: {'; '.join(methods)}; accord chat and accord run offer this when started in a terminal"


def _options(session: Session) -> dict[str, Any]:
    options = [
        f"{option.id} = {str(option.value).lower() if option.is_boolean else option.value}"
        f" ({', '.join(choice.value for choice in option.choices) or 'true, false'})"
        for option in arrange_options(session.options)
    ]
    return {"option": options} if options else {}


async def _send_prompt(
    connected: ConnectedAgent, session: Session, prompt: str, timeout: float, env: dict[str, str]
) -> Step:
    try:
        async with asyncio.timeout(timeout):
            turn = await session.prompt(prompt)
    except TimeoutError:
        found = f"the turn didn't end within {timeout:g} s"
        return Step(stage="prompt", ok=False, found=found, advice="try a longer --timeout")
    except AuthRequired as error:
        return Step(stage="auth", ok=False, found=redact_text(str(error), env), advice=_login_advice(connected))
    except AccordError as error:
        return _fail_step("prompt", error, env)
    good = turn.stop_reason == "end_turn"
    said = " ".join(turn.text.split())
    return Step(
        stage="prompt",
        ok=good,
        found=f"{turn.stop_reason}: {said[:200] or 'no output'}",
        advice="" if good else "the agent works, but stopped early; see its message",
    )


async def _delete_session(connected: ConnectedAgent, session: Session) -> None:
    """Close and delete the test session."""
    try:
        await session.close()
        if connected.offers.delete:
            await connected.delete_session(session.id)
    except AccordError:
        return


def _fail_step(stage: str, error: Exception, env: dict[str, str]) -> Step:
    return Step(stage=stage, ok=False, found=redact_text(str(error), env), advice=_advice(stage, error))


def _spawn_advice(found: Resolved) -> str:
    path = os.environ.get("PATH", "")
    return f"check the command and its path; searched: {path}" if "/" not in found.argv[0] else "check the path"


def _advice(stage: str, error: Exception) -> str:
    if isinstance(error, VersionError):
        return f"{TRY_VERSION_2}; or update the agent or Accord"
    if isinstance(error, PeerDied):
        return "run the command in a terminal to see its full output"
    if stage == "initialize" and isinstance(error, RequestFailed):
        return "the agent runs but refuses the connection; see its message"
    return {
        "first byte": "the agent runs but writes nothing: check that it speaks ACP on standard input and output (it "
        "may need an argument for that). If it is still installing, use a longer --timeout",
        "initialize": "the agent's response isn't valid ACP: try a newer version of the agent",
        "session": "the agent runs but opens no session; see its message",
        "prompt": "the agent runs but the turn failed; see its message",
    }.get(stage, "")
