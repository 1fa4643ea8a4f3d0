"""Stands in for xllamacpp where it is not installed: the same few names, a real server on the loopback, no model.

Its reply is the last text it received. It also prints, as native code does."""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any


class CommonParams(SimpleNamespace):
    def __init__(self) -> None:
        super().__init__(model=SimpleNamespace(path=""), n_ctx=0, api_keys=[], hostnames=[])


class Server:
    def __init__(self, params: CommonParams) -> None:
        os.write(1, b"native code prints wherever it likes\n")
        with open(params.model.path, "rb") as file:
            content = file.read()
        if content == b"GGUFbroken":
            sys.stderr.write("0.00.1 W cmn: hm\n0.00.2 E gguf_init: no header\n0.00.3 E load: failed\n")
            raise RuntimeError("Failed to init server")
        if content == b"GGUFslow":
            threading.Event().wait()
        Handler.key, Handler.context = params.api_keys[0], params.n_ctx
        self._server = ThreadingHTTPServer((params.hostnames[0], 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{self._server.server_port}"


class Handler(BaseHTTPRequestHandler):
    key = ""
    context = 0

    def do_GET(self) -> None:
        if self.allowed():
            self.answer({"data": [{"id": "local", "meta": {"n_ctx": self.context, "n_ctx_train": 8192}}]})

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.allowed():
            return
        said = request["messages"][-1]["content"]
        words = said if isinstance(said, str) else said[-1]["text"]
        if words == "die":
            os._exit(3)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for word in words.split():
            self.piece({"choices": [{"index": 0, "delta": {"role": "assistant", "content": word}}]})
        self.piece({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        self.piece({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}})
        self.wfile.write(b"data: [DONE]\n\n")

    def piece(self, fields: dict[str, Any]) -> None:
        whole = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "local", **fields}
        self.wfile.write(b"data: " + json.dumps(whole).encode() + b"\n\n")

    def allowed(self) -> bool:
        if self.headers["Authorization"] == f"Bearer {self.key}":
            return True
        self.answer({"error": {"message": "Invalid API Key"}}, 401)
        return False

    def answer(self, body: object, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *words: object) -> None:
        pass
