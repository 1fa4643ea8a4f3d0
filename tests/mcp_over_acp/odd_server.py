"""A stdio server written by hand that only knows the handshake, and whose tools misbehave."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def call(id: Any, name: str, params: dict[str, Any]) -> None:
    token = params.get("_meta", {}).get("progressToken")
    match name:
        case "hello":
            content = [{"type": "text", "text": f"hello, {params['arguments'].get('name', 'nobody')}"}]
            send({"id": id, "result": {"content": content}})
        case "meta":
            send({"id": id, "result": {"content": [{"type": "text", "text": json.dumps(params.get("_meta", {}))}]}})
        case "pid":
            send({"id": id, "result": {"content": [{"type": "text", "text": str(os.getpid())}]}})
        case "progress":
            for done in range(3):
                params = {"progressToken": token, "progress": done, "total": 3}
                send({"method": "notifications/progress", "params": params})
            send({"id": id, "result": {"content": []}})
        case "die":
            sys.stderr.write("out of ink\n")
            sys.stderr.flush()
            os._exit(3)
        case "nothing":
            send({"id": id})
        case "deep":
            sys.stdout.write(f'{{"jsonrpc":"2.0","id":{id},"result":{"[" * 100_000}{"]" * 100_000}}}\n')
            sys.stdout.flush()
        case "surrogate":
            surrogate = json.dumps("\ud800")
            sys.stdout.write(f'{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],"x":{surrogate}}}}}\n')
            sys.stdout.flush()
        case "odd_error":
            send({"id": id, "error": {"code": 2**80, "message": ["no"], "data": {"a": 1}}})
        case "flood":
            for number in range(20_000):
                params = {"progressToken": token, "progress": number}
                send({"method": "notifications/progress", "params": params})
            send({"id": id, "result": {"content": []}})
        case "ask":
            send({"id": "mine", "method": "sampling/createMessage", "params": {}})
            answer = json.loads(sys.stdin.readline())
            send({"id": id, "result": {"content": [{"type": "text", "text": json.dumps(answer)}]}})


print("starting up")  # stray output
ready = False
for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message["method"], message.get("id"), message.get("params", {})
    if method == "initialize":
        info = {"name": "odd", "version": "1"}
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
        send({"id": id, "result": result})
    elif method == "notifications/initialized":
        ready = True
    elif id is None:
        continue
    elif not ready:
        send({"id": id, "error": {"code": -32600, "message": "not initialized"}})
    elif method == "tools/list":
        send({"id": id, "result": {"tools": [{"name": "hello", "inputSchema": {"type": "object"}}]}})
    elif method == "tools/call":
        call(id, params["name"], params)
    else:
        send({"id": id, "error": {"code": -32601, "message": f"Method not found: {method}"}})
