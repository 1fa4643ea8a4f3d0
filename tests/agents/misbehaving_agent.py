"""An agent that exits, hangs or prints at the stage named by its argument: `python misbehaving_agent.py MANNER`."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any


def say(message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def complain(*lines: str) -> None:
    sys.stderr.write("".join(line + "\n" for line in lines))
    sys.stderr.flush()


def main(manner: str) -> int:
    if manner == "dies at once":
        complain("loading the model", "No API key: set EXAMPLE_KEY")
        return 3
    if manner == "says nothing":
        complain("waiting for the network")
    if manner == "prints":
        sys.stdout.write("Welcome to the agent!\n\n{not json}\n[1, 2\n")
        sys.stdout.flush()
    for line in sys.stdin:
        if manner == "says nothing":
            continue
        request = json.loads(line)
        match request.get("method"):
            case "initialize":
                if manner == "dies when greeted":
                    complain("I do not like you")
                    return 4
                say({"id": request["id"], "result": {"protocolVersion": 1, "agentCapabilities": {}}})
            case "session/new":
                if manner == "never begins":
                    continue
                say({"id": request["id"], "result": {"sessionId": "s"}})
            case "session/prompt":
                if manner == "dies at work":
                    complain("out of memory")
                    os.kill(os.getpid(), 9)
                if manner == "hangs up":
                    os.close(1)
                    time.sleep(60)
                chunk = {"type": "text", "text": os.environ.get("EXAMPLE_WORD", "fine")}
                update = {"sessionUpdate": "agent_message_chunk", "content": chunk}
                if manner == "prints":
                    print("debug: about to answer")
                say({"method": "session/update", "params": {"sessionId": "s", "update": update}})
                say({"id": request["id"], "result": {"stopReason": "end_turn"}})
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
