"""An agent that hangs at the step that its first argument names: `python hanging.py initialize`, or `session/new`."""

from __future__ import annotations

import json
import sys
import time


def main(step: str) -> None:
    sys.stderr.write("warming up\n")
    sys.stderr.flush()
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("method") == step:
            time.sleep(600)  # and it hears nothing, not even the end of its input
        result = {"protocolVersion": 1, "agentCapabilities": {}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked.get("id"), "result": result}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
