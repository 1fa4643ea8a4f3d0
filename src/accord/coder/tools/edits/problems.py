"""Problems that a change introduced, reported to the model with the result so that it can correct them at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from accord.coder.tools.base import ToolContext
from accord.coder.tools.edits.change import Change
from accord.coder.tools.edits.checkers import run_checkers
from accord.coder.tools.edits.syntax import find_new_problem
from accord.coder.tools.project.paths import relative


async def describe_problems(ctx: ToolContext, changes: Sequence[Change]) -> str:
    """Return the syntax errors that changes introduced, and the output of failing checkers; empty if all is well."""
    if not ctx.may_quote:
        return ""
    described = ""
    for change in changes:
        problem = await asyncio.to_thread(find_new_problem, change.path, change.before, change.after)
        if problem is not None:
            file = "The file" if len(changes) == 1 else relative(ctx, change.path)
            described += f"\n{file} now has a {problem}. Correct it."
    return described + await run_checkers(ctx, [change.path for change in changes])
