"""A version 1 client on the official Python SDK: starts an agent, plays a script, prints what it saw as JSON lines.

    py_client_v1.py SCRIPT COMMAND [ARGUMENT…]
    py_client_v1.py SCRIPT URL

SCRIPT is JSON, or `-` to read it from standard input; README.md describes it and the lines printed."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import acp
from acp import schema
from pydantic import BaseModel

FOUR_MEGABYTES = 4 << 20


def plain(value: Any) -> Any:
    """Return an SDK object as JSON data."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True, exclude_unset=True)
    return [plain(item) for item in value] if isinstance(value, list) else value


def saw(what: str, **fields: Any) -> None:
    print(json.dumps({"saw": what} | {name: plain(value) for name, value in fields.items()}), flush=True)


async def handle_notifications() -> None:
    """Wait until everything that came before a response is handled.

    The SDK handles each notification in a task. Over HTTP a response can arrive before its POST returns, and then its
    caller continues before those tasks have started."""
    while waiting := [task for task in asyncio.all_tasks() if task.get_name() == "acp.Connection.notification"]:
        await asyncio.wait(waiting)


class Terminal:
    """A real process whose output is recorded."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.output = b""
        self.reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stdout is not None
        while data := await self.process.stdout.read(65536):
            self.output += data

    async def wait(self) -> dict[str, Any]:
        await self.reading
        return self.status(await self.process.wait())

    @staticmethod
    def status(code: int) -> dict[str, Any]:
        return {"exit_code": code} if code >= 0 else {"signal": str(-code)}


class PeerClient:
    """Requests that the agent may send. The SDK routes them to these methods by name."""

    def __init__(self) -> None:
        self.step: dict[str, Any] = {}
        self.terminals: dict[str, Terminal] = {}
        self.noted: dict[str, asyncio.Event] = {}
        self.cancel_at: str | None = None

    def on_connect(self, conn: Any) -> None:
        self.agent = conn

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        saw("update", session=session_id, update=update)
        if self.cancel_at in (update.session_update, getattr(update, "status", None) or ""):
            self.cancel_at = None
            await self.agent.cancel(session_id=session_id)

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **_: Any
    ) -> schema.RequestPermissionResponse:
        saw("permission", session=session_id, toolCall=tool_call, options=options)
        wanted = self.step.get("permission", "reject_once")
        if wanted == "cancel":
            await self.agent.cancel(session_id=session_id)
        for option in options:
            if option.kind == wanted:
                outcome = schema.AllowedOutcome(outcome="selected", option_id=option.option_id)
                return schema.RequestPermissionResponse(outcome=outcome)
        return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))

    async def read_text_file(
        self, session_id: str, path: str, line: int | None = None, limit: int | None = None, **_: Any
    ) -> schema.ReadTextFileResponse:
        saw("request", method="fs/read_text_file", path=path)
        try:
            lines = Path(path).read_text().splitlines(keepends=True)  # noqa: ASYNC240 (small files, one agent)
        except OSError:
            raise acp.RequestError.resource_not_found(path) from None
        start = (line or 1) - 1
        return schema.ReadTextFileResponse(content="".join(lines[start : start + limit if limit else None]))

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> schema.WriteTextFileResponse:
        saw("request", method="fs/write_text_file", path=path)
        try:
            Path(path).write_text(content)  # noqa: ASYNC240 (as above)
        except OSError as error:
            raise acp.RequestError.internal_error({"details": str(error)}) from None
        return schema.WriteTextFileResponse()

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str] | None = None,
        env: list[Any] | None = None,
        cwd: str | None = None,
        **_: Any,
    ) -> schema.CreateTerminalResponse:
        saw("request", method="terminal/create", command=command, args=args or [])
        try:
            process = await asyncio.create_subprocess_exec(
                command,
                *(args or []),
                cwd=cwd,
                env=os.environ | {item.name: item.value for item in env or []},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
        except OSError as error:
            raise acp.RequestError.internal_error({"details": str(error)}) from None
        id = f"terminal-{len(self.terminals) + 1}"
        self.terminals[id] = Terminal(process)
        return schema.CreateTerminalResponse(terminal_id=id)

    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> schema.TerminalOutputResponse:
        saw("request", method="terminal/output")
        terminal = self.terminals[terminal_id]
        code = terminal.process.returncode
        status = None if code is None else schema.TerminalExitStatus(**terminal.status(code))
        output = terminal.output.decode(errors="replace")
        return schema.TerminalOutputResponse(output=output, truncated=False, exit_status=status)

    async def wait_for_terminal_exit(
        self, session_id: str, terminal_id: str, **_: Any
    ) -> schema.WaitForTerminalExitResponse:
        saw("request", method="terminal/wait_for_exit")
        return schema.WaitForTerminalExitResponse(**await self.terminals[terminal_id].wait())

    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> schema.KillTerminalResponse:
        saw("request", method="terminal/kill")
        await self._end(self.terminals[terminal_id])
        return schema.KillTerminalResponse()

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> schema.ReleaseTerminalResponse:
        saw("request", method="terminal/release")
        await self._end(self.terminals[terminal_id])
        return schema.ReleaseTerminalResponse()

    @staticmethod
    async def _end(terminal: Terminal) -> None:
        if terminal.process.returncode is None:
            terminal.process.kill()
            await terminal.wait()

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> Any:
        saw("elicitation", message=message, schema=getattr(mode, "requested_schema", None))
        if "elicitation" in self.step:
            return schema.AcceptElicitationResponse(action="accept", content=self.step["elicitation"])
        return schema.DeclineElicitationResponse(action="decline")

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        saw("request", method=f"_{method}", params=params)
        if method != "test/echo":
            raise acp.RequestError.method_not_found(f"_{method}")
        return params

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        saw("notification", method=f"_{method}", params=params)
        self.noted.setdefault(f"_{method}", asyncio.Event()).set()


class Script:
    """Plays the steps: each method is one kind of step, and returns the content of its `answer` line."""

    def __init__(self, client: PeerClient, agent: Any, cwd: str) -> None:
        self.client = client
        self.agent = agent
        self.cwd = cwd
        self.session = ""

    async def initialize(self, step: dict[str, Any]) -> None:
        form = schema.ElicitationCapabilities(form=schema.ElicitationFormCapabilities())
        answer = await self.agent.initialize(
            protocol_version=step.get("version", acp.PROTOCOL_VERSION),
            client_info=schema.Implementation(name="py-client-v1", version="1.0"),
            client_capabilities=schema.ClientCapabilities(
                fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True),
                terminal=True,
                elicitation=form,
            ),
        )
        saw("initialize", result=answer)

    async def authenticate(self, step: dict[str, Any]) -> Any:
        return await self.agent.authenticate(method_id=step.get("method", "test"))

    async def new(self, step: dict[str, Any]) -> None:
        answer = await self.agent.new_session(cwd=self.cwd, mcp_servers=[])
        self.session = answer.session_id
        saw("session", id=self.session, result=answer)

    async def load(self, step: dict[str, Any]) -> None:
        answer = await self.agent.load_session(cwd=self.cwd, session_id=step["session"], mcp_servers=[])
        self.session = step["session"]
        saw("session", id=self.session, result=answer)

    async def resume(self, step: dict[str, Any]) -> None:
        answer = await self.agent.resume_session(cwd=self.cwd, session_id=step["session"])
        self.session = step["session"]
        saw("session", id=self.session, result=answer)

    async def list(self, step: dict[str, Any]) -> Any:
        return await self.agent.list_sessions(cwd=self.cwd)

    async def close(self, step: dict[str, Any]) -> Any:
        return await self.agent.close_session(session_id=self.session)

    async def mode(self, step: dict[str, Any]) -> Any:
        return await self.agent.set_session_mode(session_id=self.session, mode_id=step["mode"])

    async def option(self, step: dict[str, Any]) -> Any:
        return await self.agent.set_config_option(
            session_id=self.session, config_id=step["option"], value=step["value"]
        )

    async def prompt(self, step: dict[str, Any]) -> None:
        cancel = step.get("cancel")
        self.client.cancel_at = "agent_message_chunk" if cancel is True else cancel or None
        session = step.get("session", self.session)
        answer = await self.agent.prompt(session_id=session, prompt=[acp.text_block(step["text"])])
        await handle_notifications()
        saw("stop", session=session, reason=answer.stop_reason)

    async def together(self, step: dict[str, Any]) -> None:
        """Prompt two sessions at once."""

        async def one(text: str) -> None:
            opened = await self.agent.new_session(cwd=self.cwd, mcp_servers=[])
            answer = await self.agent.prompt(session_id=opened.session_id, prompt=[acp.text_block(text)])
            await handle_notifications()
            saw("stop", session=opened.session_id, reason=answer.stop_reason)

        await asyncio.gather(*(one(text) for text in step["texts"]))

    async def request(self, step: dict[str, Any]) -> Any:
        return await self.agent.ext_method(step["method"].removeprefix("_"), step.get("params", {}))

    async def notify(self, step: dict[str, Any]) -> None:
        await self.agent.ext_notification(step["method"].removeprefix("_"), step.get("params", {}))
        if "until" in step:
            await self.client.noted.setdefault(step["until"], asyncio.Event()).wait()

    async def play(self, step: dict[str, Any]) -> None:
        self.client.step = step
        saw("step", step=step)
        try:
            answer = await getattr(self, step["do"])(step)
        except acp.RequestError as error:
            saw("error", step=step["do"], code=error.code, message=str(error), data=error.data)
        except ConnectionError as error:
            saw("error", step=step["do"], code=None, message=str(error), data=None)
        else:
            if answer is not None:
                saw("answer", step=step["do"], result=answer)


async def main() -> None:
    script = json.loads(sys.stdin.read() if sys.argv[1] == "-" else sys.argv[1])
    client = PeerClient()
    cwd = script.get("cwd", os.getcwd())
    if "://" in sys.argv[2]:
        agent = acp.connect_to_agent(
            client, await open_url(sys.argv[2], script.get("token")), use_unstable_protocol=True
        )
        await play_all(Script(client, agent, cwd), script["steps"])
        await agent.close()
        saw("exit", status=0)
        return
    pipes = {"stderr": None, "limit": FOUR_MEGABYTES}
    async with acp.spawn_agent_process(
        client, *sys.argv[2:], env=os.environ, transport_kwargs=pipes, use_unstable_protocol=True
    ) as (agent, process):
        await play_all(Script(client, agent, cwd), script["steps"])
    saw("exit", status=process.returncode)


async def play_all(player: Script, steps: list[dict[str, Any]]) -> None:
    for step in [{"do": "initialize"}, *steps]:
        await player.play(step)
    saw("step", step={"do": "exit"})


async def open_url(url: str, token: str | None) -> Any:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    if url.startswith("ws"):
        from acp.ws.client import create_websocket_stream

        return await create_websocket_stream(url, headers=headers)
    from acp.http.client import create_http_stream

    return create_http_stream(url, headers=headers)


if __name__ == "__main__":
    asyncio.run(main())
