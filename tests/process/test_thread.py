"""Blocking work in a daemon thread."""

from __future__ import annotations

import subprocess
import sys

import pytest

from accord.process.thread import run_in_thread

ENDS = """
import asyncio, threading
from accord.process.thread import run_in_thread
async def main():
    asyncio.create_task(run_in_thread(threading.Event().wait))
    await asyncio.sleep(0)
asyncio.run(main())
"""


async def test_what_was_made_aside_is_given_and_what_went_wrong_is_raised() -> None:
    assert await run_in_thread(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await run_in_thread(divmod, 1, 0)


async def test_waiting_ends_at_the_timeout() -> None:
    import threading

    with pytest.raises(TimeoutError):
        await run_in_thread(threading.Event().wait, timeout=0.01)


def test_the_end_of_the_process_does_not_wait_for_what_never_ends() -> None:
    assert subprocess.run([sys.executable, "-c", ENDS], timeout=300).returncode == 0
