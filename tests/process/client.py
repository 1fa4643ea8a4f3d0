"""A program for tests: a client with one agent and its family, which ends in the way it is told to.

`client.py ENDING KIND...`. Prints the supervisor's process id, the token, and everyone's process id."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

from accord.process import supervision
from accord.process.child import Child
from accord.process.tree import read_process

supervision.EXIT_GRACE_SECONDS = 0.1
supervision.TERM_GRACE_SECONDS = 0.2


async def main() -> None:
    ending, *kinds = sys.argv[1:]
    child = await Child.start([sys.executable, str(Path(__file__).with_name("family_agent.py")), *kinds])
    keeper = read_process(child.pid)
    assert keeper is not None
    print(supervision._supervisor.pid, keeper.parent, child._marker.token, flush=True)
    assert child.stdout is not None
    said = b""
    while not said.endswith(b"all\n"):
        said += await asyncio.to_thread(os.read, child.stdout, 1000)
    os.write(1, said)
    if ending == "fork":
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.write(writing, b"none" if supervision._supervisor.pid is None else b"some")
            while True:
                signal.pause()
        assert os.read(reading, 4) == b"none", "a fork has no children, and so no supervisor"
    if ending == "raise":
        raise RuntimeError("on purpose")
    if ending == "return":
        return
    if ending == "attack":
        os.kill(keeper.parent, signal.SIGSTOP)  # neither of the two has a chance to react to the other's end
        for pid in (supervision._supervisor.pid, keeper.parent):
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
        await child.stop(term_grace=0.1)
    if ending == "stop":
        await child.stop(stdin_grace=1.0, term_grace=0.1)
    print("done", flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
