"""accord run: one prompt, or a script of them, to any agent, without a user interface.

The agent's text goes to standard output as it streams, what it does to standard error when a person is looking there.
The exit status says how the last turn ended:

    0 end_turn    1 it failed    2 wrong usage    3 refusal    4 max_tokens    5 max_turn_requests
    124 --timeout    130 cancelled
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from accord.client.agent import ConnectedAgent
    from accord.client.session import Session
    from accord.policy.rule import Effect, Rule

STATUS = {"end_turn": 0, "refusal": 3, "max_tokens": 4, "max_turn_requests": 5, "cancelled": 130}
TIMED_OUT = 124


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("prompt", nargs=-1)
@click.option("-a", "--agent", help="A configured name or a command line; the default agent unless given.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per event.")
@click.option("--output-schema", is_flag=True, help="Print the JSON schema of what --json prints, and end.")
@click.option("-f", "--script", type=click.File("r"), help="Prompts from a file, with lines of --- between turns.")
@click.option("--image", "images", multiple=True, type=click.Path(path_type=Path), help="Attach a picture.")
@click.option("--session", "session_id", help="Continue this session.")
@click.option("--mode", help="Set the mode first.")
@click.option("--model", help="Set the model first.")
@click.option("--set", "options", multiple=True, metavar="OPTION=VALUE", help="Set any option first.")
@click.option(
    "--allow", "allowed", multiple=True, metavar="RULE", help="Allow this, e.g. 'command:git status', or all."
)
@click.option("--ask", "asked", multiple=True, metavar="RULE", help="Ask about this, e.g. 'write:src/**'.")
@click.option("--deny", "denied", multiple=True, metavar="RULE", help="Deny this, e.g. 'path:**/.env'.")
@click.option("--timeout", type=float, help="Cancel after so many seconds.")
@click.option("--cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), default=Path("."))
@click.option("--mcp-config", type=click.Path(exists=True, path_type=Path), help="A JSON file with mcpServers.")
@click.option("--v2", is_flag=True, help="Offer protocol version 2 as well.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
def run(**given: Any) -> int:
    """Send PROMPT to an agent and print its answer.

    Without PROMPT it is read from standard input. Files named with @path are attached."""
    if given["output_schema"]:
        from accord.cli.events import schema

        click.echo(schema())
        return 0
    prompts = _prompts(given)
    if not prompts:
        raise click.UsageError("there is no prompt: give one, or pipe one in")
    return asyncio.run(_Run(given, prompts).run())


def _prompts(given: dict[str, Any]) -> list[str]:
    if given["script"] is not None:
        turns = given["script"].read().split("\n---\n")
        return [turn.strip() for turn in turns if turn.strip()]
    if given["prompt"]:
        return [" ".join(given["prompt"])]
    if sys.stdin is None or sys.stdin.isatty():
        return []
    text = sys.stdin.read().strip()
    return [text] if text else []


class _Run:
    """One call of the command."""

    def __init__(self, given: dict[str, Any], prompts: list[str]) -> None:
        from accord.cli.asking import Terminal
        from accord.cli.showing import Json, Plain

        self.given = given
        self.prompts = prompts
        self.cwd = given["cwd"].resolve()
        self.terminal = Terminal()
        progress = not given["quiet"] and sys.stderr is not None and sys.stderr.isatty()
        self.show: Json | Plain = Json() if given["as_json"] else Plain(progress=progress)
        self.timed_out = False

    async def run(self) -> int:
        from accord.client.connect import connect
        from accord.client.local import LocalWorkspace
        from accord.config.environment import environment
        from accord.config.resolve import resolve
        from accord.config.settings import load
        from accord.policy.trust import Trust

        loaded = load(self.cwd, trusted=Trust().trusts(self.cwd))
        for note in loaded.notes:
            self._note("warning", note)
        target = self.given["agent"] or loaded.settings.default_agent
        if target is None:
            raise click.UsageError("no agent is configured as the default: name one with --agent")
        found = resolve(target, loaded.settings)
        policy = self._policy(loaded, found.name)
        for note in policy.notes:
            self._note("warning", note)
        ask = self._ask if self.terminal.is_there else None
        async with (
            LocalWorkspace(self.cwd, policy=policy, ask=ask, told=self._told) as workspace,
            connect(
                found.argv,
                cwd=self.cwd,
                workspace=workspace,
                permissions=workspace.permissions,
                elicitation=self._elicit if self.terminal.is_there else None,
                env=environment(found.environment, found.env),
                versions={1, 2} if self.given["v2"] else {1},
                deadlines=loaded.settings.deadlines,
            ) as agent,
        ):
            return await self._turns(agent, loaded.settings)

    def _policy(self, loaded: Any, agent: str) -> Any:
        from accord.policy.audit import Audit
        from accord.policy.engine import Policy
        from accord.policy.memory import Memory
        from accord.policy.text import parse
        from accord.policy.trust import Trust

        words: dict[Effect, str] = {"allow": "allowed", "ask": "asked", "deny": "denied"}
        flags = [
            parse(text, effect, trusted_agent=True, where=f"--{effect}")
            for effect, texts in words.items()
            for text in self.given[texts]
        ]
        return Policy(
            self.cwd,
            flags=flags,
            remembered=Memory(),
            user=_rules(loaded.user_rules, "your configuration"),
            project_rules=_rules(loaded.project_rules, "accord.toml"),
            trusted=Trust().trusts(self.cwd),
            audit=Audit(),
            agent=agent,
        )

    # -- the turns

    async def _turns(self, agent: ConnectedAgent, settings: Any) -> int:
        from accord.cli import events
        from accord.cli.attach import prompt_content

        session = await self._session(agent, settings)
        await self._set(session)
        self.show.line(
            events.Session(
                session_id=session.id,
                agent=agent.name,
                protocol_version=agent.version,
                mode=_value(session, "mode"),
                model=_value(session, "model"),
            )
        )
        status = 0
        for number, text in enumerate(self.prompts):
            images = list(self.given["images"]) if number == 0 else []
            content = prompt_content(text, images, self.cwd, agent.offers)
            self.show.line(events.Prompt(text=text))
            status = await self._turn(session, content)
            if status:
                break
        return status

    async def _session(self, agent: ConnectedAgent, settings: Any) -> Session:
        from accord.config.servers import choose, read_servers

        entries = dict(settings.mcp_servers)
        if self.given["mcp_config"] is not None:
            entries |= read_servers(self.given["mcp_config"])
        chosen = choose(entries, agent.offers.mcp)
        for notice in chosen.notices:
            self._note("warning", notice)
        id = self.given["session_id"]
        if id is None:
            return await agent.new_session(mcp_servers=chosen.servers)
        if agent.offers.resume:
            return await agent.resume_session(id, mcp_servers=chosen.servers)
        return await agent.load_session(id, mcp_servers=chosen.servers)

    async def _set(self, session: Session) -> None:
        wanted = [pair.partition("=") for pair in self.given["options"]]
        for name, equals, _ in wanted:
            if not equals:
                raise click.UsageError(f"--set takes OPTION=VALUE, not {name!r}")
        pairs = [(name, value) for name, _, value in wanted]
        pairs += [(name, self.given[name]) for name in ("mode", "model") if self.given[name]]
        for name, value in pairs:
            option = session.option(name)
            if option is not None and option.is_boolean:
                await session.set_option(name, value.lower() in ("true", "on", "yes", "1"))
            else:
                await session.set_option(name, value)

    async def _turn(self, session: Session, content: list[Any]) -> int:
        from accord.cli import events
        from accord.errors import AccordError, RequestFailed

        turn = session.prompt(*content)
        loop = asyncio.get_running_loop()
        stops = 0

        def stop() -> None:
            nonlocal stops
            stops += 1
            if stops > 1:
                raise KeyboardInterrupt
            loop.create_task(turn.cancel())  # noqa: RUF006  # the turn itself is awaited below

        loop.add_signal_handler(signal.SIGINT, stop)
        timer = None
        if self.given["timeout"] is not None:

            def late() -> None:
                self.timed_out = True
                stop()

            timer = loop.call_later(self.given["timeout"], late)
        error: AccordError | None = None
        try:
            async for event in turn:
                self.show.event(event)
        except AccordError as failure:
            error = failure
        finally:
            loop.remove_signal_handler(signal.SIGINT)
            if timer is not None:
                timer.cancel()
        reason = "cancelled" if self.timed_out and turn.stop_reason == "cancelled" else turn.stop_reason
        self.show.line(
            events.Ended(
                stop_reason=reason,
                text=turn.text,
                error=str(error) if error is not None else None,
                code=error.code if isinstance(error, RequestFailed) else None,
            )
        )
        if error is not None:
            return 1
        return TIMED_OUT if self.timed_out else STATUS.get(str(reason), 1)

    # -- questions and notes

    async def _ask(self, question: Any) -> Any:
        from accord.cli.asking import ask_policy

        return await ask_policy(self.terminal, question)

    async def _elicit(self, question: Any) -> Any:
        from accord.cli.asking import fill_form

        return await fill_form(self.terminal, question, "The agent")

    def _told(self, what: Any, decision: Any) -> None:
        from accord.cli import events

        if getattr(what, "kind", None) == "read" and decision.allowed:
            return
        title = getattr(what, "title", "") or getattr(what, "line", None) or ", ".join(getattr(what, "paths", ()))
        self.show.line(
            events.Permission(title=title, decision="allowed" if decision.allowed else "refused", why=decision.why)
        )

    def _note(self, severity: str, text: str) -> None:
        from accord.cli import events

        self.show.line(events.Notice(severity=severity, title=text))


def _rules(table: dict[str, Any], where: str) -> list[Rule]:
    """The rules of a configuration: short texts under allow, ask and deny, and whole tables under rule."""
    from accord.policy.fault import RuleError
    from accord.policy.rule import rule_from_table
    from accord.policy.text import parse

    found: list[Rule] = []
    effects: dict[str, Effect] = {"allow": "allow", "ask": "ask", "deny": "deny"}
    for key, value in table.items():
        if key in effects and isinstance(value, list):
            found += [parse(str(text), effects[key], where=f"{where}, permissions.{key}") for text in value]
        elif key == "rule" and isinstance(value, list):
            found += [rule_from_table(each) for each in value]
        else:
            raise RuleError(f"{where}: permissions.{key}: expected lists allow, ask and deny, or [[permissions.rule]]")
    return found


def _value(session: Session, name: str) -> str | None:
    option = session.option(name)
    return str(option.value) if option is not None else None
