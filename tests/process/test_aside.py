"""Work beside the event loop."""

from __future__ import annotations

import subprocess
import sys

import pytest

from accord.process.aside import in_thread

ENDS = """
import asyncio, threading
from accord.process.aside import in_thread
async def main():
    asyncio.create_task(in_thread(threading.Event().wait))
    await asyncio.sleep(0)
asyncio.run(main())
"""


async def test_what_was_made_aside_is_given_and_what_went_wrong_is_raised() -> None:
    assert await in_thread(divmod, 7, 2) == (3, 1)
    with pytest.raises(ZeroDivisionError):
        await in_thread(divmod, 1, 0)


async def test_nobody_waits_longer_than_their_patience() -> None:
    import threading

    with pytest.raises(TimeoutError):
        await in_thread(threading.Event().wait, patience=0.01)


def test_the_end_of_the_process_does_not_wait_for_what_never_ends() -> None:
    assert subprocess.run([sys.executable, "-c", ENDS], timeout=30).returncode == 0
