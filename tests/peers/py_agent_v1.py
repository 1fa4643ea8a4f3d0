"""A version 1 agent on the official Python SDK: the text of a prompt names the scenario it plays.

README.md lists them. With `--auth` it opens no session before a login."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import acp
from acp import schema

STORED = "stored-1"
MODES = {"ask": "Ask", "careful": "Careful"}
MODELS = {"fast": "Fast", "deep": "Deep"}


class Session:
    """The state of a session: its directory, its settings, and whether its turn has been cancelled."""

    def __init__(self, cwd: str) -> None:
        self.cwd = cwd
        self.mode = "ask"
        self.model = "fast"
        self.cancelled = asyncio.Event()
        self.calls = 0

    def next_call(self) -> str:
        self.calls += 1
        return f"call-{self.calls}"

    def path(self, name: str) -> str:
        return str(Path(self.cwd) / name)

    def modes(self) -> schema.SessionModeState:
        available = [schema.SessionMode(id=id, name=name) for id, name in MODES.items()]
        return schema.SessionModeState(current_mode_id=self.mode, available_modes=available)

    def options(self) -> list[Any]:
        choices = [schema.SessionConfigSelectOption(value=id, name=name) for id, name in MODELS.items()]
        return [
            schema.SessionConfigOptionSelect(
                id="model", name="Model", category="model", type="select", current_value=self.model, options=choices
            )
        ]


class PeerAgent:
    """Plays the scenarios. The SDK routes requests to these methods by name."""

    def __init__(self, must_authenticate: bool) -> None:
        self.authenticated = not must_authenticate
        self.sessions: dict[str, Session] = {}
        self.client_capabilities = schema.ClientCapabilities()

    def on_connect(self, conn: Any) -> None:
        self.client = conn

    # -- connection and sessions

    async def initialize(
        self, protocol_version: int, client_capabilities: schema.ClientCapabilities | None = None, **_: Any
    ) -> schema.InitializeResponse:
        self.client_capabilities = client_capabilities or self.client_capabilities
        return schema.InitializeResponse(
            protocol_version=1,
            agent_info=schema.Implementation(name="py-agent-v1", version="1.0"),
            auth_methods=[schema.AuthMethodAgent(id="test", name="Test login")],
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, embedded_context=True),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                ),
            ),
        )

    async def authenticate(self, method_id: str, **_: Any) -> None:
        if method_id != "test":
            raise acp.RequestError.invalid_params({"methodId": method_id})
        self.authenticated = True

    async def new_session(self, cwd: str, **_: Any) -> schema.NewSessionResponse:
        if not self.authenticated:
            raise acp.RequestError.auth_required()
        id = f"session-{len(self.sessions) + 1}"
        session = self.sessions[id] = Session(cwd)
        return schema.NewSessionResponse(session_id=id, modes=session.modes(), config_options=session.options())

    async def load_session(self, cwd: str, session_id: str, **_: Any) -> schema.LoadSessionResponse:
        session = self._reopen(cwd, session_id)
        await self._update(session_id, acp.update_user_message_text("an earlier question"))
        await self._update(session_id, acp.update_agent_message_text("an earlier answer"))
        return schema.LoadSessionResponse(modes=session.modes(), config_options=session.options())

    async def resume_session(self, session_id: str, cwd: str, **_: Any) -> schema.ResumeSessionResponse:
        session = self._reopen(cwd, session_id)
        return schema.ResumeSessionResponse(modes=session.modes(), config_options=session.options())

    def _reopen(self, cwd: str, session_id: str) -> Session:
        if session_id != STORED and session_id not in self.sessions:
            raise acp.RequestError.resource_not_found(session_id)
        return self.sessions.setdefault(session_id, Session(cwd))

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> schema.ListSessionsResponse:
        stored = schema.SessionInfo(session_id=STORED, cwd=cwd or os.getcwd(), title="An earlier talk")
        live = [schema.SessionInfo(session_id=id, cwd=s.cwd) for id, s in self.sessions.items() if id != STORED]
        return schema.ListSessionsResponse(sessions=[stored, *live])

    async def close_session(self, session_id: str, **_: Any) -> None:
        session = self._session(session_id)
        session.cancelled.set()
        del self.sessions[session_id]

    async def set_session_mode(self, session_id: str, mode_id: str, **_: Any) -> None:
        session = self._session(session_id)
        if mode_id not in MODES:
            raise acp.RequestError.invalid_params({"modeId": mode_id})
        session.mode = mode_id

    async def set_config_option(
        self, config_id: str, session_id: str, value: Any, **_: Any
    ) -> schema.SetSessionConfigOptionResponse:
        session = self._session(session_id)
        if config_id != "model" or value not in MODELS:
            raise acp.RequestError.invalid_params({"configId": config_id, "value": value})
        session.model = value
        return schema.SetSessionConfigOptionResponse(config_options=session.options())

    async def cancel(self, session_id: str, **_: Any) -> None:
        if session := self.sessions.get(session_id):
            session.cancelled.set()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method != "test/echo":
            raise acp.RequestError.method_not_found(f"_{method}")
        return params

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        if method == "test/note":
            await self.client.ext_notification("test/noted", params)

    # -- one turn

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        session = self._session(session_id)
        session.cancelled.clear()
        text = "".join(block.text for block in prompt if block.type == "text")
        name, _, rest = text.partition(" ")
        play = getattr(self, f"play_{name}", None)
        if play is None:
            play, rest = self._echo, text
        reason = await play(session_id, session, rest)
        return schema.PromptResponse(stop_reason=reason or "end_turn")

    async def _echo(self, id: str, session: Session, text: str) -> None:
        for chunk in re.findall(r"\S+\s*", text):
            await self._say(id, chunk)

    async def play_plan(self, id: str, session: Session, rest: str) -> None:
        steps = [("Look", "high"), ("Write", "medium"), ("Check", "low")]
        for statuses in (("in_progress", "pending", "pending"), ("completed", "in_progress", "pending")):
            entries = [acp.plan_entry(c, priority=p, status=s) for (c, p), s in zip(steps, statuses, strict=True)]
            await self._update(id, acp.update_plan(entries))
        await self._say(id, "planned")

    async def play_think(self, id: str, session: Session, rest: str) -> None:
        for thought in ("one ", "two ", "three"):
            await self._update(id, acp.update_agent_thought_text(thought))
        for word in ("four ", "five ", "six"):
            await self._say(id, word)

    async def play_tool(self, id: str, session: Session, rest: str) -> None:
        call, path = session.next_call(), session.path("notes.txt")
        await self._update(
            id,
            acp.start_tool_call(
                call,
                "Edit the notes",
                kind="edit",
                status="pending",
                locations=[schema.ToolCallLocation(path=path, line=1)],
                raw_input={"path": path},
            ),
        )
        await self._update(id, acp.update_tool_call(call, status="in_progress"))
        diff = acp.tool_diff_content(path, "new\n", "old\n")
        done = acp.update_tool_call(call, status="completed", content=[diff], raw_output={"written": 4})
        await self._update(id, done)
        await self._say(id, "edited")

    async def play_permission(self, id: str, session: Session, rest: str) -> str | None:
        answer = await self.client.request_permission(
            session_id=id,
            tool_call=schema.ToolCallUpdate(
                tool_call_id=session.next_call(), title="Delete the notes", kind="delete", status="pending"
            ),
            options=[
                schema.PermissionOption(option_id="yes", name="Allow", kind="allow_once"),
                schema.PermissionOption(option_id="no", name="Reject", kind="reject_once"),
            ],
        )
        if answer.outcome.outcome == "cancelled":
            await self._say(id, "cancelled")
            return "cancelled" if session.cancelled.is_set() else None
        await self._say(id, "allowed" if answer.outcome.option_id == "yes" else "denied")
        return None

    async def play_read(self, id: str, session: Session, path: str) -> None:
        try:
            file = await self.client.read_text_file(session_id=id, path=session.path(path))
        except acp.RequestError as error:
            await self._say(id, f"error {error.code}")
        else:
            await self._say(id, file.content)

    async def play_write(self, id: str, session: Session, rest: str) -> None:
        path, _, text = rest.partition(" ")
        try:
            await self.client.write_text_file(session_id=id, path=session.path(path), content=text)
        except acp.RequestError as error:
            await self._say(id, f"error {error.code}")
        else:
            await self._say(id, "written")

    async def play_terminal(self, id: str, session: Session, rest: str) -> None:
        command, *args = rest.split()
        call = session.next_call()
        created = await self.client.create_terminal(session_id=id, command=command, args=args, cwd=session.cwd)
        terminal = created.terminal_id
        shown = [acp.tool_terminal_ref(terminal)]
        await self._update(
            id, acp.start_tool_call(call, "Run a command", kind="execute", status="in_progress", content=shown)
        )
        ended = await self.client.wait_for_terminal_exit(session_id=id, terminal_id=terminal)
        output = await self.client.terminal_output(session_id=id, terminal_id=terminal)
        await self.client.release_terminal(session_id=id, terminal_id=terminal)
        await self._update(id, acp.update_tool_call(call, status="completed"))
        await self._say(id, output.output)
        await self._say(id, f"exit {ended.exit_code}")

    async def play_wait(self, id: str, session: Session, rest: str) -> str:
        await self._say(id, "waiting")
        await session.cancelled.wait()
        return "cancelled"

    async def play_fail(self, id: str, session: Session, rest: str) -> None:
        raise acp.RequestError(-32603, "the agent was asked to fail", {"why": "asked"})

    async def play_throw(self, id: str, session: Session, rest: str) -> None:
        raise RuntimeError("the credit balance is too low")

    async def play_die(self, id: str, session: Session, rest: str) -> None:
        print("last words", file=sys.stderr, flush=True)
        os._exit(3)

    async def play_refuse(self, id: str, session: Session, rest: str) -> str:
        return "refusal"

    async def play_usage(self, id: str, session: Session, rest: str) -> None:
        cost = schema.Cost(amount=0.25, currency="USD")
        await self._update(id, schema.UsageUpdate(session_update="usage_update", used=1200, size=200000, cost=cost))

    async def play_mode(self, id: str, session: Session, rest: str) -> None:
        session.mode, session.model = "careful", "deep"
        await self._update(
            id, schema.CurrentModeUpdate(session_update="current_mode_update", current_mode_id=session.mode)
        )
        await self._update(
            id, schema.ConfigOptionUpdate(session_update="config_option_update", config_options=session.options())
        )

    async def play_commands(self, id: str, session: Session, rest: str) -> None:
        hint = schema.AvailableCommandInput(root=schema.UnstructuredCommandInput(hint="what to plan"))
        commands = [
            schema.AvailableCommand(name="plan", description="Make a plan", input=hint),
            schema.AvailableCommand(name="help", description="Say what can be done"),
        ]
        await self._update(
            id,
            schema.AvailableCommandsUpdate(session_update="available_commands_update", available_commands=commands),
        )

    async def play_title(self, id: str, session: Session, rest: str) -> None:
        await self._update(id, schema.SessionInfoUpdate(session_update="session_info_update", title=rest))

    async def play_big(self, id: str, session: Session, size: str) -> None:
        await self._say(id, "x" * int(size))

    async def play_elicit(self, id: str, session: Session, rest: str) -> None:
        offered = self.client_capabilities.elicitation
        if offered is None or offered.form is None:
            await self._say(id, "no elicitation")
            return
        form = schema.ElicitationSchema(
            type="object",
            properties={"name": schema.ElicitationStringPropertySchema(type="string", title="Your name")},
            required=["name"],
        )
        answer = await self.client.create_elicitation(
            message="Who are you?", mode=schema.ElicitationFormSessionMode(session_id=id, requested_schema=form)
        )
        if answer.action == "accept":
            await self._say(id, f"hello {answer.content['name']}")
        else:
            await self._say(id, answer.action)

    async def play_extension(self, id: str, session: Session, rest: str) -> None:
        try:
            answer = await self.client.ext_method("test/echo", {"from": "agent"})
        except acp.RequestError as error:
            await self._say(id, f"error {error.code}")
        else:
            await self._say(id, json.dumps(answer, separators=(",", ":")))

    # -- helpers

    def _session(self, id: str) -> Session:
        if id not in self.sessions:
            raise acp.RequestError.resource_not_found(id)
        return self.sessions[id]

    async def _update(self, id: str, update: Any) -> None:
        await self.client.session_update(session_id=id, update=update)

    async def _say(self, id: str, text: str) -> None:
        await self._update(id, acp.update_agent_message_text(text))


async def serve() -> None:
    """Serve by HTTP and WebSocket on a free port, and print it."""
    import socket

    from acp.http.asgi import create_asgi_app
    from hypercorn.asyncio import serve as serve_app
    from hypercorn.config import Config

    def make_agent(connection: Any) -> PeerAgent:
        agent = PeerAgent(must_authenticate=False)
        agent.on_connect(connection)
        return agent

    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    sock.listen(100)
    print(f"http://127.0.0.1:{sock.getsockname()[1]}/acp", flush=True)
    config = Config()
    config.bind = [f"fd://{sock.detach()}"]
    await serve_app(create_asgi_app(make_agent), config)  # type: ignore[arg-type]


if __name__ == "__main__" and "--serve" in sys.argv:
    asyncio.run(serve())
elif __name__ == "__main__":
    asyncio.run(acp.run_agent(PeerAgent("--auth" in sys.argv), use_unstable_protocol=True))
