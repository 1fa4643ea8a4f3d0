"""Accord's own agent for the test peers: plays the scenarios of `tests/peers/README.md`, in both versions.

With `--auth` no session opens before somebody has logged in."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

from accord import (
    Agent,
    AgentSession,
    AuthMethod,
    AuthRequired,
    Choice,
    Command,
    Mode,
    NotFound,
    Option,
    PermissionOption,
    PlanEntry,
    RequestFailed,
    SessionInfo,
    Turn,
    run,
)
from accord.store.base import Page

STORED = "stored-1"
COMMANDS = [
    Command(name="plan", description="Make a plan", hint="what to plan"),
    Command(name="help", description="Say what can be done"),
]


class Scenarios(Agent):
    name = "accord-scenarios"
    auth_methods = (AuthMethod(id="test", name="Test"),)
    modes = (Mode(id="ask", name="Ask"), Mode(id="careful", name="Careful"))
    options = (
        Option(
            id="model",
            name="Model",
            value="fast",
            choices=[Choice(value="fast", name="Fast"), Choice(value="deep", name="Deep")],
            category="model",
        ),
    )

    def __init__(self, *, needs_login: bool = False) -> None:
        self.needs_login = needs_login
        self.made: dict[str, str] = {}

    # -- sessions

    async def new_session_id(self) -> str:
        return f"session-{len(self.made) + 1}"

    async def new_session(self, session: AgentSession) -> None:
        if self.needs_login:
            raise AuthRequired("log in first")
        self.made[session.id] = session.cwd

    async def login(self, method_id: str) -> None:
        self.needs_login = False

    async def logout(self) -> None: ...

    async def load_session(self, session: AgentSession) -> None:
        if session.id != STORED:
            raise NotFound("there is no such session", data={"sessionId": session.id})
        await session.user_said("an earlier question")
        await session.say("an earlier answer")

    async def resume_session(self, session: AgentSession) -> None:
        if session.id not in self.made and session.id != STORED:
            raise NotFound("there is no such session", data={"sessionId": session.id})

    async def list_sessions(self, *, cwd: str | None, cursor: str | None) -> Page:
        known = {STORED: cwd or os.getcwd(), **self.made}
        return Page(sessions=[SessionInfo(id=id, cwd=where) for id, where in known.items()])

    # -- beyond the protocol

    async def extension_request(self, method: str, params: Any) -> Any:
        return params if method == "_test/echo" else await super().extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        if method == "_test/note" and self.speaking is not None:
            await self.speaking.notify("_test/noted", params)

    speaking: AgentSession | None = None

    # -- prompts

    async def prompt(self, turn: Turn) -> str | None:
        self.speaking = turn.session
        word, _, rest = turn.text.partition(" ")
        scenario = getattr(self, f"play_{word}", None)
        if scenario is None or (word in ("read", "write") and turn.client.version == 2):
            return await self.echo(turn)
        reason: str | None = await scenario(turn, rest)
        return reason

    async def echo(self, turn: Turn) -> None:
        words = turn.text.split(" ")
        for word in words[:-1]:
            await turn.say(word + " ")
        await turn.say(words[-1])

    async def play_plan(self, turn: Turn, rest: str) -> None:
        steps = [("Look", "high"), ("Write", "medium"), ("Check", "low")]
        for statuses in (["in_progress", "pending", "pending"], ["completed", "in_progress", "pending"]):
            pairs = zip(steps, statuses, strict=True)
            await turn.plan([PlanEntry(content=text, priority=rank, status=done) for (text, rank), done in pairs])
        await turn.say("planned")

    async def play_think(self, turn: Turn, rest: str) -> None:
        for text in ("one ", "two ", "three"):
            await turn.think(text)
        for text in ("four ", "five ", "six"):
            await turn.say(text)

    async def play_tool(self, turn: Turn, rest: str) -> None:
        path = turn.session.absolute("notes.txt")
        tool = turn.tool("Edit the notes", kind="edit", locations=["notes.txt:1"], raw_input={"path": path})
        async with tool:
            await tool.diff("notes.txt", "old\n", "new\n")
            await tool.complete(raw_output={"written": 4})
        await turn.say("edited")

    async def play_permission(self, turn: Turn, rest: str) -> None:
        options = [
            PermissionOption(id="yes", name="Yes", kind="allow_once"),
            PermissionOption(id="no", name="No", kind="reject_once"),
        ]
        async with turn.tool("Delete the notes", kind="delete") as tool:
            answer = await tool.permit("Delete the notes?", options=options)
        await turn.say("allowed" if answer else "cancelled" if answer.cancelled else "denied")

    async def play_read(self, turn: Turn, rest: str) -> None:
        try:
            await turn.say(await turn.files.read(rest))
        except RequestFailed as error:
            await turn.say(f"error {error.code}")

    async def play_write(self, turn: Turn, rest: str) -> None:
        path, _, text = rest.partition(" ")
        try:
            await turn.files.write(path, text)
        except RequestFailed as error:
            await turn.say(f"error {error.code}")
        else:
            await turn.say("written")

    async def play_terminal(self, turn: Turn, rest: str) -> None:
        command, *args = rest.split(" ")
        async with turn.tool(rest, kind="execute") as tool:
            if turn.client.version == 1:
                async with await turn.terminals.create(command, args) as terminal:
                    await tool.show(terminal)
                    code = (await terminal.wait()).code
                    output = (await terminal.output()).text
            else:
                shown = turn.display_terminal(rest)
                await tool.show(shown)
                process = await asyncio.create_subprocess_exec(command, *args, stdout=asyncio.subprocess.PIPE)
                printed, _ = await process.communicate()
                await shown.write(printed)
                code, output = process.returncode, printed.decode()
                await shown.exit(code)
        await turn.say(output)
        await turn.say(f"exit {code}")

    async def play_wait(self, turn: Turn, rest: str) -> None:
        await turn.say("waiting")
        await asyncio.Event().wait()

    async def play_fail(self, turn: Turn, rest: str) -> None:
        raise RequestFailed("failed as asked", data={"why": "asked"})

    async def play_die(self, turn: Turn, rest: str) -> None:
        print("last words", file=sys.stderr, flush=True)
        os._exit(3)

    async def play_refuse(self, turn: Turn, rest: str) -> str:
        return "refusal"

    async def play_usage(self, turn: Turn, rest: str) -> None:
        await turn.usage(1200, 200_000, cost=0.25)

    async def play_mode(self, turn: Turn, rest: str) -> None:
        await turn.set_mode("careful")
        await turn.session.change_option("model", "deep")

    async def play_commands(self, turn: Turn, rest: str) -> None:
        await turn.session.set_commands(COMMANDS)

    async def play_title(self, turn: Turn, rest: str) -> None:
        await turn.set_title(rest)

    async def play_big(self, turn: Turn, rest: str) -> None:
        await turn.say("x" * int(rest))

    async def play_elicit(self, turn: Turn, rest: str) -> None:
        if not turn.client.forms:
            await turn.say("no elicitation")
            return
        reply = await turn.ask("Who are you?", {"properties": {"name": {"type": "string"}}, "required": ["name"]})
        await turn.say(f"hello {reply.content['name']}" if reply.accepted and reply.content else reply.action)

    async def play_extension(self, turn: Turn, rest: str) -> None:
        try:
            answer = await turn.request("_test/echo", {"from": "agent"})
        except RequestFailed as error:
            await turn.say(f"error {error.code}")
        else:
            await turn.say(json.dumps(answer, separators=(",", ":")))


if __name__ == "__main__":
    run(Scenarios(needs_login="--auth" in sys.argv))
