"""An agent that stops responding at one method: `python stuck_agent.py initialize`, or `session/new`."""

from __future__ import annotations

import json
import sys
import time


def main(step: str) -> None:
    sys.stderr.write("warming up\n")
    sys.stderr.flush()
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("method") == step:
            time.sleep(600)  # reads nothing more, not even the end of its input
        result = {"protocolVersion": 1, "agentCapabilities": {}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request.get("id"), "result": result}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
