"""Run the Python blocks of a document, one after another, as its reader would.

Run `python blocks.py DOCUMENT` in the directory in which the blocks should run. A block is a separate program unless
the line above it is `<!-- continues -->`; it may await outside a function, as in `python -m asyncio`. Its output must
match the block marked `output` below it, where `…` matches anything within a line. A block that ends in `run(…)` is an
agent, or a proxy with its agent: it is started by its command and sent a prompt."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import inspect
import io
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

TIMEOUT_SECONDS = 300.0
PROGRAM = "agent_of_the_document.py"
FENCE = re.compile(r"^```(\w*)(?: [^\n]*)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CONTINUES = "<!-- continues -->"
SERVES = re.compile(r"^    run\(\w+\(\)(?:, .+)?\)$", re.MULTILINE)


class Block(NamedTuple):
    """One Python block, and its expected output if the document shows it."""

    code: str
    line: int
    continues: bool
    output: str | None


def blocks(document: str) -> Iterator[Block]:
    """Yield the Python blocks of a document, in order."""
    fences = list(FENCE.finditer(document))
    for fence, following in zip(fences, [*fences[1:], None], strict=True):
        if fence[1] != "python":
            continue
        output = None
        if following is not None and following[1] == "output" and not document[fence.end() : following.start()].strip():
            output = following[2]
        before = document[: fence.start()].rstrip().rpartition("\n")[2]
        line = document.count("\n", 0, fence.start(2))
        yield Block(fence[2], line, before.strip() == CONTINUES, output)


def play(document: Path) -> None:
    """Run all blocks of a document."""
    names: dict[str, Any] = {}
    with asyncio.Runner() as runner:
        for block in blocks(document.read_text(encoding="utf-8")):
            where = f"{document.name}, line {block.line + 1}"
            if not block.continues:
                names = {"__name__": "__main__"}
            if SERVES.search(block.code):
                Path(PROGRAM).write_text(block.code, encoding="utf-8")
                runner.run(ask(f"python {PROGRAM}"))
                continue
            # Keep the document's line numbers, so that a traceback points into it.
            code = compile(
                "\n" * block.line + block.code, str(document), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True
            )
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                result = eval(code, names)
                if inspect.iscoroutine(result):
                    runner.run(asyncio.wait_for(result, TIMEOUT_SECONDS))
            if block.output is not None and not matches(block.output, printed.getvalue()):
                sys.exit(f"{where}: the document shows\n{block.output}\nbut the output is\n{printed.getvalue()}")


def matches(shown: str, printed: str) -> bool:
    """Return whether the output matches; `…` matches anything within a line."""
    return re.fullmatch(re.escape(shown.rstrip()).replace("…", ".*"), printed.rstrip()) is not None


async def ask(command: str) -> None:
    """Start the agent of a block, and send it a prompt."""
    import accord
    from accord.testing import ScriptedClient

    client = ScriptedClient(files={os.path.join(os.getcwd(), "NOTES.md"): "bread\n"})
    async with asyncio.timeout(TIMEOUT_SECONDS), accord.connect(command, **client.options()) as agent:
        session = await agent.new_session()
        turn = await session.prompt("milk")
        assert turn.stop_reason == "end_turn", turn
        assert turn.text, "the agent said nothing"


if __name__ == "__main__":
    play(Path(sys.argv[1]))
