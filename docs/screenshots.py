"""Make the screenshots in docs/screenshots: real runs of the terminal client with the showcase agent, saved as SVG."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).resolve().parent / "screenshots"
SIZE = (118, 34)
TIMEOUT_SECONDS = 60.0
FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
"""Fonts that images would load from another host."""
EXAMPLE = '''"""Greets people."""

from datetime import datetime


def greeting(name: str, now: datetime) -> str:
    part = "morning" if now.hour < 12 else "evening" if now.hour > 17 else "day"
    return f"Good {part}, {name}!"


if __name__ == "__main__":
    print(greeting("world", datetime.now()))
'''


class Run:
    """One run of the client."""

    def __init__(self, app: object, pilot: object) -> None:
        self.app: Any = app
        self.pilot: Any = pilot

    async def until(self, wanted: str) -> None:
        """Wait until a text is on the screen."""
        end = time.monotonic() + TIMEOUT_SECONDS
        while wanted not in "\n".join(strip.text for strip in self.app.screen._compositor.render_strips()):
            if time.monotonic() > end:
                raise TimeoutError(f"{wanted!r} did not appear")
            await self.pilot.pause(0.05)
        await self.pilot.pause(0.3)

    async def send(self, text: str) -> None:
        self.app.tabs.active.editor.set_text(text)
        await self.pilot.press("enter")

    def save(self, name: str) -> None:
        DIRECTORY.mkdir(exist_ok=True)
        path = DIRECTORY / f"{name}.svg"
        image = FONT_FACE.sub("", self.app.export_screenshot(title="accord"))
        path.write_text(image.replace("Fira Code", "ui-monospace"), encoding="utf-8")
        print(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


async def conversation(run: Run) -> None:
    await run.send("/plan")
    await run.until("Three steps are completed")
    await run.send("/usage")
    await run.until("the cost is now in credits")
    await run.send("/markdown")
    await run.until("and the end.")
    run.save("conversation")


async def tools(run: Run) -> None:
    await run.send("/diff")
    await run.until("No file was changed.")
    run.save("changes")


async def permission(run: Run) -> None:
    await run.send("/permission diff")
    await run.until("Permission needed")
    await run.until("number or")
    run.save("permission")


async def follow(run: Run) -> None:
    source = run.app.host.cwd / "src" / "example.py"
    source.parent.mkdir()
    source.write_text(EXAMPLE, encoding="utf-8")
    await run.pilot.press("alt+w")
    await run.send("/tools 1")
    await run.until("1 at once")
    await run.until("▶ 7")
    run.save("follow")


async def completion(run: Run) -> None:
    await run.pilot.press("slash")
    await run.until("❯ /")
    run.save("completion")


async def main() -> None:
    from accord.cli.support.host import TuiHost
    from accord.tui.app import AccordApp

    wanted = sys.argv[1:]
    for scene in (conversation, tools, permission, follow, completion):
        if wanted and scene.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for name in ("CONFIG", "DATA", "CACHE"):
                os.environ[f"ACCORD_{name}_HOME"] = f"{folder}/{name.lower()}"
            os.environ["HOME"] = folder
            project = Path(folder) / "project"
            project.mkdir()
            await _play(scene, project, TuiHost, AccordApp)


async def _play(scene: Callable[[Run], Awaitable[None]], project: Path, host: type, application: type) -> None:
    target = f"{sys.executable} -m accord showcase --pace 0"
    app = application(host(project, frozenset({1})), target)
    async with app.run_test(size=SIZE) as pilot:
        run = Run(app, pilot)
        await run.until("● ready")
        await scene(run)


if __name__ == "__main__":
    asyncio.run(main())
