"""An agent for tests of the command line. It uses no library, so that it starts fast: version 1, blocking reads.

The first word of a prompt names the scenario. Options: `--offer a,b` (load, resume, delete, image, resource, http,
login, modes, models, options), `--fault F` (see `begin`), `--log FILE` (records every method it receives), `--key FILE`
(opens no session until that file exists; its only login is a command that writes it, named in `_meta`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Your name", "minLength": 2},
        "mail": {"type": "string", "format": "email", "description": "Where to write to"},
        "age": {"type": "integer", "minimum": 18, "default": 30},
        "share": {"type": "number", "maximum": 1},
        "news": {"type": "boolean", "default": True},
        "color": {"type": "string", "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}]},
        "days": {"type": "array", "items": {"type": "string", "enum": ["mon", "tue", "wed"]}, "maxItems": 2},
        "note": {"type": "string"},
    },
    "required": ["name", "color"],
}
SLEEPER = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(600)"


def option(name: str, default: str = "") -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


OFFERS = option("--offer").split(",")
FAULT = option("--fault")
LOG = option("--log")
KEY = option("--key")


class Agent:
    def __init__(self) -> None:
        self.id = 1000
        self.session = "s-1"
        self.place: dict[str, Any] = {}
        self.values: dict[str, Any] = {"mode": "ask", "model": "fast", "effort": "low", "web": False}
        self.known = os.path.exists(KEY) if KEY else "login" not in OFFERS
        self.cancelled = False
        self.stubborn = False
        self.kept: list[dict[str, Any]] = []
        self.capabilities: dict[str, Any] = {}

    # -- the wire

    def send(self, message: dict[str, Any]) -> None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()

    def update(self, kind: str, /, **fields: Any) -> None:
        params = {"sessionId": self.session, "update": {"sessionUpdate": kind, **fields}}
        self.send({"method": "session/update", "params": params})

    def say(self, text: str) -> None:
        self.update("agent_message_chunk", content={"type": "text", "text": text})

    def receive(self) -> dict[str, Any]:
        line = sys.stdin.readline()
        if not line:
            log("(end of input)" if self.stubborn else "")
            sys.exit(0)
        message: dict[str, Any] = json.loads(line)
        if "method" in message:
            log(message["method"])
        if message.get("method") == "session/cancel":
            self.cancelled = True
        return message

    def wait(self) -> None:
        """Wait until the client closes standard input."""
        while True:
            self.receive()

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send a request to the client and wait for the response."""
        self.id += 1
        self.send({"id": self.id, "method": method, "params": {"sessionId": self.session, **params}})
        while True:
            message = self.receive()
            if message.get("id") == self.id and "method" not in message:
                return message
            if "method" in message and "id" in message:
                self.kept.append(message)

    # -- requests from the client

    def serve(self) -> None:
        while True:
            message = self.kept.pop(0) if self.kept else self.receive()
            if "method" not in message or "id" not in message:
                continue
            handler = getattr(self, "on_" + message["method"].replace("/", "_"), None)
            if handler is None:
                self.send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
                continue
            result = handler(message.get("params") or {})
            if "code" in result:
                self.send({"id": message["id"], "error": result})
            else:
                self.send({"id": message["id"], "result": result})

    def on_initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        self.capabilities = params.get("clientCapabilities", {})
        if FAULT == "refuses":
            return {"code": -32603, "message": "this installation is broken"}
        if FAULT == "only-2":
            if params["protocolVersion"] < 2:
                return {"code": -32022, "message": "Unsupported protocol version"}
            return {"protocolVersion": 2, "info": {"name": "cli-agent", "version": "2"}, "capabilities": {}}
        if FAULT == "future":
            return {"protocolVersion": 99, "info": {"name": "cli-agent", "version": "99"}, "capabilities": {}}
        return {
            "protocolVersion": 1,
            "agentInfo": {"name": "cli-agent", "title": "Tester", "version": "1.2"},
            "agentCapabilities": {
                "loadSession": "load" in OFFERS,
                "promptCapabilities": {"image": "image" in OFFERS, "embeddedContext": "resource" in OFFERS},
                "mcpCapabilities": {"http": "http" in OFFERS},
                "sessionCapabilities": {name: {} for name in ("resume", "delete", "close") if name in OFFERS},
            },
            "authMethods": self.logins(params.get("clientCapabilities", {}).get("_meta", {})),
        }

    def logins(self, declared: dict[str, Any]) -> list[dict[str, Any]]:
        if KEY:
            write = {"command": sys.executable, "args": ["-S", "-E", "-c", f"open({KEY!r}, 'w')"], "label": "Login"}
            method = {"id": "own", "name": "Own login", "_meta": {"terminal-auth": write}}
            return [method] if declared.get("terminal-auth") is True else []
        return [{"id": "browser", "name": "Log in with a browser"}] if "login" in OFFERS else []

    def on_authenticate(self, params: dict[str, Any]) -> dict[str, Any]:
        if KEY:
            return {"code": -32000, "message": "Authentication required"}
        self.known = True
        return {}

    def on_session_new(self, params: dict[str, Any]) -> dict[str, Any]:
        if not self.known:
            return {"code": -32000, "message": "Authentication required"}
        if FAULT == "no-session":
            return {"code": -32603, "message": f"no disk left for {os.environ.get('TEST_API_KEY', 'you')}"}
        if FAULT == "slow-session":
            self.wait()
        self.place = params
        return {"sessionId": self.session, **self.settings()}

    def on_session_load(self, params: dict[str, Any]) -> dict[str, Any]:
        self.session = params["sessionId"]
        self.place = params
        self.update("user_message_chunk", content={"type": "text", "text": "an old question"})
        self.say("an old answer")
        return self.settings()

    def on_session_resume(self, params: dict[str, Any]) -> dict[str, Any]:
        self.session = params["sessionId"]
        self.place = params
        return self.settings()

    def on_session_close(self, params: dict[str, Any]) -> dict[str, Any]:
        return {}

    def on_session_delete(self, params: dict[str, Any]) -> dict[str, Any]:
        return {}

    def settings(self) -> dict[str, Any]:
        said: dict[str, Any] = {}
        if "modes" in OFFERS:
            modes = [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Write code"}]
            said["modes"] = {"currentModeId": self.values["mode"], "availableModes": modes}
        if "models" in OFFERS:
            models = [{"modelId": "fast", "name": "Fast"}, {"modelId": "deep", "name": "Deep thought"}]
            said["models"] = {"currentModelId": self.values["model"], "availableModels": models}
        if "options" in OFFERS:
            said["configOptions"] = self.options()
        return said

    def options(self) -> list[dict[str, Any]]:
        levels = [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}]
        return [
            {
                "id": "effort",
                "name": "Effort",
                "type": "select",
                "currentValue": self.values["effort"],
                "options": levels,
            },
            {"id": "web", "name": "Search the web", "type": "boolean", "currentValue": self.values["web"]},
        ]

    def on_session_set_mode(self, params: dict[str, Any]) -> dict[str, Any]:
        self.values["mode"] = params["modeId"]
        return {}

    def on_session_set_model(self, params: dict[str, Any]) -> dict[str, Any]:
        self.values["model"] = params["modelId"]
        return {}

    def on_session_set_config_option(self, params: dict[str, Any]) -> dict[str, Any]:
        self.values[params["configId"]] = params["value"]
        return {"configOptions": self.options()}

    # -- turns

    def on_session_prompt(self, params: dict[str, Any]) -> dict[str, Any]:
        self.cancelled = False
        blocks = params["prompt"]
        word, _, rest = blocks[0]["text"].partition(" ")
        play = getattr(self, f"play_{word}", None)
        result = play(rest, blocks) if play is not None else self.say(f"You said: {blocks[0]['text']}")
        if isinstance(result, dict):
            return result
        return {"stopReason": "cancelled" if self.cancelled else result or "end_turn"}

    def play_say(self, rest: str, blocks: Any) -> None:
        for word in rest.split():
            self.say(word + " ")

    def play_many(self, rest: str, blocks: Any) -> None:
        for number in range(int(rest)):
            self.say(f"line {number}\n")

    def play_stop(self, rest: str, blocks: Any) -> str:
        self.say("so far")
        return rest

    def play_show(self, rest: str, blocks: Any) -> None:
        """Says what came with the prompt."""
        self.say(json.dumps(blocks[1:]))

    def play_place(self, rest: str, blocks: Any) -> None:
        """Says what the session was opened with, and what was set since."""
        self.say(json.dumps({"id": self.session, **self.place, **self.values}))

    def play_env(self, rest: str, blocks: Any) -> None:
        self.say(json.dumps(dict(os.environ)))

    def play_work(self, rest: str, blocks: Any) -> None:
        """A plan, a thought, a tool call with a change, usage, a notice, commands, a picture."""
        steps = [("look", "completed"), ("write", "in_progress"), ("check", "pending")]
        self.update("plan", entries=[{"content": c, "status": s, "priority": "medium"} for c, s in steps])
        self.update("agent_thought_chunk", content={"type": "text", "text": "hm"})
        call = {"toolCallId": "call-1", "title": "Change the notes", "kind": "edit", "status": "pending"}
        self.update("tool_call", **call, locations=[{"path": "/p/notes", "line": 3}], rawInput={"a": 1})
        change = {"type": "diff", "path": "/p/notes", "oldText": "old\n", "newText": "new\n"}
        text = {"type": "content", "content": {"type": "text", "text": "done so"}}
        self.update("tool_call_update", toolCallId="call-1", status="in_progress")
        self.update("tool_call_update", toolCallId="call-1", status="completed", content=[text, change])
        self.update("usage_update", used=10, size=100, cost={"amount": 0.5, "currency": "EUR"})
        self.update("available_commands_update", availableCommands=[{"name": "plan", "description": "Plans"}])
        self.update("agent_message_chunk", content={"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"})
        self.update("from_the_future", secret="none")
        self.say("finished")

    def play_control(self, rest: str, blocks: Any) -> None:
        """Tries to play tricks on a terminal."""
        call = {"toolCallId": "call-2", "title": "safe\x1b[2K\rreally\u202egpj.exe", "kind": "edit"}
        self.update("tool_call", **call, status="in_progress")
        self.say("red \x1b[31mtext\x1b[0m")

    def play_permission(self, rest: str, blocks: Any) -> None:
        """Asks whether it may run a command."""
        call = {"toolCallId": "call-3", "title": f"Run {rest}", "kind": "execute", "rawInput": {"command": rest}}
        options = [
            {"optionId": "once", "name": "Allow once", "kind": "allow_once"},
            {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
            {"optionId": "no", "name": "Reject", "kind": "reject_once"},
            {"optionId": "never", "name": "Never allow", "kind": "reject_always"},
        ]
        answer = self.ask("session/request_permission", {"toolCall": call, "options": options})
        outcome = answer["result"]["outcome"]
        self.say(f"chosen: {outcome.get('optionId', outcome['outcome'])}")

    def play_write(self, rest: str, blocks: Any) -> None:
        path, _, text = rest.partition(" ")
        answer = self.ask("fs/write_text_file", {"path": os.path.join(self.place["cwd"], path), "content": text})
        self.say(answer.get("error", {}).get("message", "written"))

    def play_create(self, rest: str, blocks: Any) -> None:
        """Creates a file as Gemini CLI does: reads it first where it can, and takes any error for a failure."""
        path = os.path.join(self.place["cwd"], rest)
        if self.capabilities["fs"]["readTextFile"]:
            answer = self.ask("fs/read_text_file", {"path": path})
            if "error" in answer:
                self.say("Error checking existing file")
                return
        self.play_write(f"{rest} hello", blocks)

    def play_read(self, rest: str, blocks: Any) -> None:
        answer = self.ask("fs/read_text_file", {"path": os.path.join(self.place["cwd"], rest)})
        self.say(answer["error"]["message"] if "error" in answer else answer["result"]["content"])

    def play_terminal(self, rest: str, blocks: Any) -> None:
        made = self.ask("terminal/create", {"command": rest})
        if "error" in made:
            self.say(made["error"]["message"])
            return
        terminal = {"terminalId": made["result"]["terminalId"]}
        done = self.ask("terminal/wait_for_exit", terminal)["result"]
        output = self.ask("terminal/output", terminal)["result"]["output"]
        self.ask("terminal/release", terminal)
        self.say(f"{done.get('exitCode')}: {output}")

    def play_calls(self, rest: str, blocks: Any) -> None:
        """Makes any calls, given as JSON (`[[method, params], …]`, `{cwd}` is the session's), and says each answer."""
        for method, params in json.loads(rest.replace("{cwd}", self.place["cwd"])):
            answer = self.ask(method, params)
            said = answer["error"]["message"] if "error" in answer else json.dumps(answer["result"])
            self.say(f"{method}: {said}\n")

    def play_zed(self, rest: str, blocks: Any) -> None:
        """Runs a command itself, and shows it by Zed's convention."""
        own = {"terminal_id": "own-1"}
        call = {"toolCallId": "call-4", "title": rest, "kind": "execute", "status": "in_progress"}
        shown = [{"type": "terminal", "terminalId": "own-1"}]
        self.update("tool_call", **call, content=shown, _meta={"terminal_info": {**own, "cwd": "/p"}})
        output = {"terminal_output": {**own, "data": f"{rest}\n"}}
        self.update("tool_call_update", toolCallId="call-4", _meta=output)
        ended = {"terminal_exit": {**own, "exit_code": 0, "signal": None}}
        self.update("tool_call_update", toolCallId="call-4", status="completed", _meta=ended)

    def play_form(self, rest: str, blocks: Any) -> None:
        answer = self.ask("elicitation/create", {"mode": "form", "message": "Who are you?", "requestedSchema": FORM})
        self.say(json.dumps(answer.get("result") or answer["error"]["message"]))

    def play_page(self, rest: str, blocks: Any) -> None:
        page = {"mode": "url", "message": "Please visit", "url": rest, "elicitationId": "e-1"}
        answer = self.ask("elicitation/create", page)
        self.say(json.dumps(answer.get("result") or answer["error"]["message"]))

    def play_slow(self, rest: str, blocks: Any) -> None:
        """Work until cancelled."""
        self.say("working ")
        while not self.cancelled:
            self.kept.append(self.receive())
        self.say("stopped")

    def play_stubborn(self, rest: str, blocks: Any) -> None:
        """Ignore `session/cancel`, with a child that ignores signals. Report both process ids."""
        child = subprocess.Popen([sys.executable, "-S", "-c", SLEEPER], stdout=subprocess.PIPE, start_new_session=True)
        assert child.stdout is not None
        child.stdout.readline()
        self.stubborn = True
        self.say(f"{os.getpid()} {child.pid}\n")
        self.wait()

    def play_fail(self, rest: str, blocks: Any) -> dict[str, Any]:
        self.say("half an ")
        return {"code": -32603, "message": f"the model said no: {os.environ.get('TEST_API_KEY', 'sorry')}"}

    def play_break(self, rest: str, blocks: Any) -> dict[str, Any]:
        """Fail as the SDKs do: a generic message, with the reason in `data`."""
        return {"code": -32603, "message": "Internal error", "data": json.loads(rest)}

    def play_log_in(self, rest: str, blocks: Any) -> dict[str, Any]:
        return {"code": -32000, "message": "Authentication required"}

    def play_die(self, rest: str, blocks: Any) -> None:
        print(f"no key like {os.environ.get('TEST_API_KEY', 'this')}", file=sys.stderr, flush=True)
        os._exit(3)


def log(method: str) -> None:
    if LOG and method:
        with open(LOG, "a") as file:
            file.write(method + "\n")


def begin() -> None:
    """Start serving, or fail first as `--fault` says."""
    if FAULT == "dies":
        print("config.json: no such file", file=sys.stderr, flush=True)
        sys.exit(3)
    if FAULT == "never":
        print("still downloading", file=sys.stderr, flush=True)
        Agent().wait()
    if FAULT == "garbage":
        print("Welcome to Tester!\nType help for help.", flush=True)
        Agent().wait()
    if FAULT == "banner":
        print("Welcome to Tester!", flush=True)
    if FAULT == "forks":
        subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL)
        sys.exit(0)
    Agent().serve()


if __name__ == "__main__":
    begin()
