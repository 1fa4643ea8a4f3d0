"""Waiting for a person's answer, and reading it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Union

from accord.policy.choices import Choice, Question, Reply


async def answered(reply: Awaitable[Reply], deadline: Union[float, Awaitable[object], None]) -> tuple[Reply, bool]:
    """The answer, and whether it came in time. The question is withdrawn when it did not."""
    if deadline is None:
        return await reply, True
    asking = asyncio.ensure_future(reply)
    limit = asyncio.ensure_future(asyncio.sleep(deadline) if isinstance(deadline, (int, float)) else deadline)
    try:
        await asyncio.wait({asking, limit}, return_when=asyncio.FIRST_COMPLETED)
        if asking.done():
            return asking.result(), True
        return None, False
    finally:
        for task in (asking, limit):
            task.cancel()
        await asyncio.gather(asking, limit, return_exceptions=True)


def chosen(reply: Reply, question: Question) -> Choice | None:
    """The choice that an answer means; None when it means none of those that were offered."""
    match reply:
        case Choice():
            # Whoever asks may shorten or lengthen a choice, and not invent one.
            known = next((choice for choice in question.choices if choice.id == reply.id), None)
            return reply if known is not None and known.kind == reply.kind else None
        case True:
            return question.choice("allow_once", "allow_always")
        case False:
            return question.choice("reject_once", "reject_always")
        case str():
            return next((choice for choice in question.choices if choice.id == reply), None)
    return None
