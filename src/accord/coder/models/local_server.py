"""The process that a local model runs in. `local` starts this file, which needs nothing else of ours.

One line on standard input says what to load, one on standard output says where it answers. It serves until its standard
input ends: when the agent goes, however it goes, so does this."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from urllib.request import Request, urlopen


def main() -> None:
    # What native code prints goes to standard error; the answer goes where it is read.
    answers = os.dup(1)
    os.dup2(2, 1)
    wish = json.loads(sys.stdin.buffer.readline())
    try:
        xllamacpp = import_module("xllamacpp")
    except ImportError as error:
        sys.exit(f"xllamacpp cannot be imported: {error}")
    params = xllamacpp.CommonParams()
    params.model.path = wish["path"]
    params.model_alias = {"local"}
    params.n_ctx = wish["context"]
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [wish["key"]]
    params.offline = True
    params.ui = False
    params.endpoint_slots = False
    params.verbosity = 1
    try:
        server = xllamacpp.Server(params)
    except Exception as error:  # whatever the bindings make of a file that they cannot load
        sys.exit(str(error) or type(error).__name__)
    ready = {"address": server.listening_address, "context": _context(server.listening_address, wish)}
    os.write(answers, json.dumps(ready).encode() + b"\n")
    os.close(answers)
    sys.stdin.buffer.read()
    os._exit(0)  # native threads need not agree


def _context(address: str, wish: dict[str, object]) -> int:
    """How many tokens are really read at once: not more than the model was made for."""
    with urlopen(Request(f"{address}/v1/models", headers={"Authorization": f"Bearer {wish['key']}"})) as answer:
        about = json.load(answer)["data"][0].get("meta") or {}
    sizes = [about.get("n_ctx"), about.get("n_ctx_train"), wish["context"]]
    return min(size for size in sizes if isinstance(size, int) and size > 0)


if __name__ == "__main__":
    main()
