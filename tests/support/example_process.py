"""The programs in `examples/`, started as their readers would start them."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def command_of(name: str) -> str:
    """Return the command line that starts an example."""
    return f"{sys.executable} {EXAMPLES / name}"


async def run_python(*arguments: str, cwd: Path, **environment: str) -> tuple[int, str, str]:
    """Run a program without standard input, and return its exit status and output."""
    env = {**os.environ, "PYTHONIOENCODING": "utf-8", **environment}
    process = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, cwd=cwd, env=env, stdin=asyncio.subprocess.DEVNULL, stdout=PIPE, stderr=PIPE
    )
    try:
        output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return process.returncode, output.decode(), errors.decode()


@asynccontextmanager
async def serve_example(app: str, *, cwd: Path, **environment: str) -> AsyncIterator[str]:
    """Run a web application on a free port, and yield its URL. It must end without errors."""
    env = {**os.environ, "PYTHONPATH": str(EXAMPLES), **environment}
    command = ["-m", "uvicorn", app, "--port", "0", "--no-use-colors", "--no-access-log"]
    process = await asyncio.create_subprocess_exec(sys.executable, *command, cwd=cwd, env=env, stderr=PIPE)
    assert process.stderr is not None
    log = ""
    try:
        while (found := re.search(r"running on (http://\S+)", log)) is None:
            line = await process.stderr.readline()
            assert line, f"the server exited:\n{log}"
            log += line.decode()
        reading = asyncio.create_task(process.stderr.read())  # so that it never waits for us
        yield found[1]
        process.send_signal(signal.SIGTERM)
        log += (await reading).decode()
        await process.wait()
        assert "Traceback" not in log and "ERROR" not in log, log
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
