"""A small server without dependencies, which starts quickly: `small_server.py [MODE]`.

It misbehaves as MODE says: `mute` never answers `initialize`, `dies` exits before it, `chatty` writes to its standard
output, `newest` knows only the newest handshake, `crowd` starts another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else ""
TOOLS = ["pid", "write", "crash", "hang", "echo", "größe/x", "größe.x", "n" * 100, "weird", "garbage", "grow", "halves"]
NEWEST = "2026-07-28"
asked: dict[str, Any] = {}


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(words: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}]}


def call(name: str, arguments: dict[str, Any], params: dict[str, Any]) -> dict[str, Any] | None:
    match name:
        case "pid":
            return text(str(os.getpid()))
        case "write":
            Path(arguments["path"]).write_text(str(os.getpid()))
        case "crash":
            print("a bad day", file=sys.stderr, flush=True)
            os._exit(3)
        case "hang":
            return None
        case "weird":
            return {"content": "no list"}
        case "choose" if "inputResponses" in params:
            return text(json.dumps(params["inputResponses"], sort_keys=True))
        case "choose":
            form = {"type": "object", "properties": {"color": {"type": "string"}}}
            question = {
                "method": "elicitation/create",
                "params": {"mode": "form", "message": "?", "requestedSchema": form},
            }
            return {"resultType": "input_required", "inputRequests": {"q": question}, "requestState": "s"}
        case "halves":
            return text("half \ud83c a pair")
        case "grow":
            TOOLS.append("grown")
            meta = {"io.modelcontextprotocol/subscriptionId": asked.get("listen")}
            send(method="notifications/tools/list_changed", params={"_meta": meta})
            return text("grown")
        case "garbage":
            print("this is no message", flush=True)
            return text("after the garbage")
    return text(json.dumps(arguments, ensure_ascii=False, sort_keys=True))


def hello(id: Any) -> None:
    capabilities = {"tools": {"listChanged": True}}
    info = {"name": "small", "version": "1"}
    send(id=id, result={"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info})


def answer(id: Any, method: str, params: dict[str, Any]) -> None:
    match method:
        case "initialize" if MODE == "newest":
            send(id=id, error={"code": -32022, "message": "too old", "data": {"supported": [NEWEST], "requested": "x"}})
        case "initialize":
            hello(id)
        case "server/discover":
            result = {"supportedVersions": [NEWEST], "capabilities": {"tools": {}}, "resultType": "complete"}
            send(id=id, result={**result, "ttlMs": 0, "cacheScope": "private"})
        case "subscriptions/listen":
            asked["listen"] = id
            meta = {"io.modelcontextprotocol/subscriptionId": id}
            wanted = {"toolsListChanged": True}
            send(method="notifications/subscriptions/acknowledged", params={"notifications": wanted, "_meta": meta})
        case "tools/list":
            names = [*TOOLS, "choose"] if MODE == "newest" else TOOLS
            tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
            more = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} if MODE == "newest" else {}
            send(id=id, result={"tools": tools, **more})
        case "tools/call":
            result = call(params["name"], params.get("arguments") or {}, params)
            if result is not None:
                send(id=id, result={"resultType": "complete", **result} if MODE == "newest" else result)
        case _:
            send(id=id, error={"code": -32601, "message": f"no {method}"})


def main() -> None:
    if MODE == "dies":
        print(os.environ.get("MY_API_KEY", "there is no configuration"), file=sys.stderr)
        sys.exit(7)
    if MODE == "chatty":
        print("Starting up ...", flush=True)
        sys.exit(1)
    if MODE == "crowd":
        sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
        Path(sys.argv[2]).write_text(str(sleeper.pid))
    for line in sys.stdin:
        message = json.loads(line)
        if MODE == "mute":
            continue
        if "id" in message and "method" in message:
            answer(message["id"], message["method"], message.get("params") or {})


if __name__ == "__main__":
    main()
