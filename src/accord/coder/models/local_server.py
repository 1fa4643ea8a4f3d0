"""The process that runs a local model. `local` starts this file, which imports nothing else of Accord.

One line on standard input is the load request; one line on standard output is the address it serves. It runs until
standard input closes, so it ends with the agent, however that ends."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from urllib.request import Request, urlopen


def main() -> None:
    # Redirect the output of native code to standard error, and keep the original stdout for the reply.
    replies = os.dup(1)
    os.dup2(2, 1)
    request = json.loads(sys.stdin.buffer.readline())
    try:
        xllamacpp = import_module("xllamacpp")
    except ImportError as error:
        sys.exit(f"couldn't import xllamacpp: {error}")
    params = xllamacpp.CommonParams()
    params.model.path = request["path"]
    params.model_alias = {"local"}
    params.n_ctx = request["context"]
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [request["key"]]
    params.offline = True
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 1
    try:
        server = xllamacpp.Server(params)
    except Exception as error:  # the bindings raise all kinds of exceptions for a file they can't load
        sys.exit(str(error) or type(error).__name__)
    ready = {"address": server.listening_address, "context": _context(server.listening_address, request)}
    os.write(replies, json.dumps(ready).encode() + b"\n")
    os.close(replies)
    sys.stdin.buffer.read()
    os._exit(0)  # don't wait for native threads


def _context(address: str, request: dict[str, object]) -> int:
    """Return the effective context window, which is limited by the model."""
    with urlopen(Request(f"{address}/v1/models", headers={"Authorization": f"Bearer {request['key']}"})) as answer:
        about = json.load(answer)["data"][0].get("meta") or {}
    sizes = [about.get("n_ctx"), about.get("n_ctx_train"), request["context"]]
    return min(size for size in sizes if isinstance(size, int) and size > 0)


if __name__ == "__main__":
    main()
