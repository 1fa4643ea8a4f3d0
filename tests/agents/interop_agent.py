"""An agent that plays the scenarios of the test peers: the first word of a prompt names one.

`tests/peers/README.md` lists the scenarios. The agent supports both protocol versions. It saves its session in the
directory given as an argument; with `--auth` it opens no session before a login."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from typing import Any

from accord import (
    Agent,
    AgentSession,
    AuthMethod,
    AuthRequired,
    Choice,
    Client,
    Command,
    Icon,
    MemoryStore,
    Mode,
    Option,
    PermissionOption,
    PlanEntry,
    RequestFailed,
    ResourceLink,
    SessionInfo,
    TextContent,
    Turn,
    run,
)
from accord.model.statement import WholeMessage

STORED = "stored-1"
EARLIER = {"user": "an earlier question", "agent": "an earlier answer"}


class InteropAgent(Agent):
    """Plays the scenarios."""

    name = "interop-agent"
    version = "1.0"
    content = ("image", "resource")
    auth_methods = [AuthMethod(id="test", name="Test login"), AuthMethod(id="ask", name="Login with a question")]
    modes = [Mode(id="ask", name="Ask"), Mode(id="careful", name="Careful")]
    options = [
        Option(
            id="model",
            name="Model",
            category="model",
            value="fast",
            choices=[Choice(value="fast", name="Fast"), Choice(value="deep", name="Deep")],
        )
    ]

    def __init__(self, folder: str, must_log_in: bool) -> None:
        self.store = MemoryStore()
        self.folder = folder
        self.known = not must_log_in
        self.latest: AgentSession | None = None

    async def on_connect(self, client: Client) -> None:
        await self.store.create(SessionInfo(id=STORED, cwd=self.folder, title="An earlier talk"))
        for role, text in EARLIER.items():
            message = WholeMessage(role=role, message_id=f"stored-{role}", content=[TextContent(text=text)])  # type: ignore[arg-type]
            self.store.append(STORED, message)

    async def login(self, method_id: str, client: Client) -> None:
        if method_id == "ask":
            name = {"type": "string", "title": "Your name"}
            reply = await client.ask("Who logs in?", {"properties": {"name": name}, "required": ["name"]})
            if not reply.accepted or reply.content is None:
                raise AuthRequired("no name")
            await client.notify("_test/welcome", {"name": reply.content["name"]})
        self.known = True

    async def new_session(self, session: AgentSession) -> None:
        if not self.known:
            raise AuthRequired("log in first")
        self.latest = session

    async def extension_request(self, method: str, params: Any) -> Any:
        return params if method == "_test/echo" else await super().extension_request(method, params)

    async def extension_notification(self, method: str, params: Any) -> None:
        if method == "_test/note" and self.latest is not None:
            await self.latest.notify("_test/noted", params)

    # -- one turn

    async def prompt(self, turn: Turn) -> str | None:
        name, _, rest = turn.text.partition(" ")
        play = getattr(self, f"play_{name}", None)
        if play is None or (name in ("read", "write") and not turn.client.offers.read_files):
            await self.echo(turn)
            return None
        reason: str | None = await play(turn, rest)
        return reason

    async def echo(self, turn: Turn) -> None:
        for chunk in re.findall(r"\S+\s*", turn.text):
            await turn.say(chunk)

    async def play_plan(self, turn: Turn, rest: str) -> None:
        steps = [("Look", "high"), ("Write", "medium"), ("Check", "low")]
        for statuses in (("in_progress", "pending", "pending"), ("completed", "in_progress", "pending")):
            entries = zip(steps, statuses, strict=True)
            await turn.plan([PlanEntry(content=what, priority=how, status=status) for (what, how), status in entries])
        await turn.say("planned")

    async def play_think(self, turn: Turn, rest: str) -> None:
        for thought in ("one ", "two ", "three"):
            await turn.think(thought)
        for word in ("four ", "five ", "six"):
            await turn.say(word)

    async def play_tool(self, turn: Turn, rest: str) -> None:
        path = turn.session.absolute("notes.txt")
        where = ["notes.txt:1"]
        async with turn.tool("Edit the notes", kind="edit", locations=where, raw_input={"path": path}) as tool:
            await tool.diff("notes.txt", "old\n", "new\n")
            await tool.complete(raw_output={"written": 4})
        await turn.say("edited")

    async def play_permission(self, turn: Turn, rest: str) -> None:
        options = [
            PermissionOption(id="yes", name="Allow", kind="allow_once"),
            PermissionOption(id="no", name="Reject", kind="reject_once"),
        ]
        answer = await turn.permit("Delete the notes", kind="delete", options=options)
        await turn.say("cancelled" if answer.cancelled else "allowed" if answer else "denied")

    async def play_read(self, turn: Turn, path: str) -> None:
        try:
            await turn.say(await turn.files.read(path))
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
        command, *args = rest.split()
        async with turn.tool("Run a command", kind="execute") as tool:
            if turn.client.offers.terminals:
                async with await turn.terminals.create(command, args) as terminal:
                    await tool.show(terminal)
                    code = (await terminal.wait()).code
                    output = (await terminal.output()).text
            else:  # version 2 leaves running a command to the agent
                display = turn.display_terminal(rest)
                await tool.show(display)
                process = await asyncio.create_subprocess_exec(
                    command, *args, cwd=turn.session.cwd, stdout=asyncio.subprocess.PIPE
                )
                printed, _ = await process.communicate()
                await display.write(printed)
                await display.exit(process.returncode)
                code, output = process.returncode, printed.decode()
        await turn.say(output)
        await turn.say(f"exit {code}")

    async def play_wait(self, turn: Turn, rest: str) -> None:
        await turn.say("waiting")
        await asyncio.Event().wait()

    async def play_fail(self, turn: Turn, rest: str) -> None:
        raise RequestFailed("the agent was asked to fail", code=-32603, data={"why": "asked"})

    async def play_break(self, turn: Turn, rest: str) -> None:
        raise ZeroDivisionError("nobody expected this")

    async def play_die(self, turn: Turn, rest: str) -> None:
        print("last words", file=sys.stderr, flush=True)
        os._exit(3)

    async def play_refuse(self, turn: Turn, rest: str) -> str:
        return "refusal"

    async def play_usage(self, turn: Turn, rest: str) -> None:
        await turn.usage(1200, 200000, cost=0.25)

    async def play_mode(self, turn: Turn, rest: str) -> None:
        await turn.set_mode("careful")
        await turn.session.change_option("model", "deep")

    async def play_commands(self, turn: Turn, rest: str) -> None:
        plan = Command(name="plan", description="Make a plan", hint="what to plan")
        await turn.session.set_commands([plan, Command(name="help", description="Say what can be done")])

    async def play_title(self, turn: Turn, title: str) -> None:
        await turn.set_title(title)

    async def play_big(self, turn: Turn, size: str) -> None:
        await turn.say("x" * int(size))

    async def play_print(self, turn: Turn, rest: str) -> None:
        """Print to standard output, from this process and from a child."""
        print("this is not JSON")
        process = await asyncio.create_subprocess_exec("echo", "nor is this")
        await process.wait()
        await turn.say("printed")

    async def play_elicit(self, turn: Turn, rest: str) -> None:
        if not turn.client.offers.forms:
            await turn.say("no elicitation")
            return
        name = {"type": "string", "title": "Your name"}
        reply = await turn.ask("Who are you?", {"properties": {"name": name}, "required": ["name"]})
        await turn.say(f"hello {reply.content['name']}" if reply.accepted and reply.content else reply.action)

    async def play_cleared(self, turn: Turn, rest: str) -> None:
        """Clear fields, send metadata with parts and the end, and in version 2 icons and a custom option."""
        tool = turn.tool("Read", kind="read", locations=["/a"], raw_input={"a": 1}, meta={"test": 1})
        await tool.show("text")
        await tool.update(title=None, locations=None, raw_input=None)
        await tool.set_content()
        await tool.complete(meta={"test": 2})
        await turn.say(ResourceLink(uri="file:///a", name="a", icons=[Icon(src="https://example.com/i.png")]))
        await turn.session.set_info(updated_at="2026-01-01T00:00:00Z", meta={"test": 3})
        async with turn.session.work():
            await turn.say("cleared")
        turn.response_meta = {"test": 4}

    async def play_extension(self, turn: Turn, rest: str) -> None:
        try:
            answer = await turn.request("_test/echo", {"from": "agent"})
        except RequestFailed as error:
            await turn.say(f"error {error.code}")
        else:
            await turn.say(json.dumps(answer, separators=(",", ":")))


if __name__ == "__main__":
    run(InteropAgent(sys.argv[1], must_log_in="--auth" in sys.argv))
