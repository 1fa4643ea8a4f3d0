"""Which files may be told of by a tool that looks at many: none that a rule denies, or wants to be asked about."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from accord.coder.tools.base import Work
from accord.coder.tools.places import who
from accord.policy.action import Action

AT_ONCE = 20
"""How many files are judged before others get their turn."""


async def tellable(work: Work, paths: Iterable[str]) -> set[str]:
    """Those of some files that may be told of unasked. What no rule speaks of was allowed with the directory."""
    told: set[str] = set()
    for index, path in enumerate(dict.fromkeys(paths), 1):
        decision = work.desk.policy.decide(Action.of_read(path, **who(work)))
        if decision.effect == "allow" or (decision.effect == "ask" and decision.by == "default"):
            told.add(path)
        if index % AT_ONCE == 0:
            await asyncio.sleep(0)
    return told
