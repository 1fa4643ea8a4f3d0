"""Make the screenshots in docs/screenshots: real runs of the terminal client, saved as SVG.

`task` and `conversation` show the coding agent on a scripted model: a server on this machine that answers like a
provider. The tools, the change and the test run are real. The other scenes show the showcase agent."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

DIRECTORY = Path(__file__).resolve().parent / "screenshots"
sys.path.append(str(DIRECTORY.parents[1] / "tests"))  # the scripted model
from coder.providers.script import Calls, Says  # noqa: E402
from coder.providers.server import FakeProvider  # noqa: E402

SIZE = (118, 34)
TASK_SIZE = (118, 38)
"""High enough for the whole task: the question, the plan, the change and the tests."""
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


PRICES = '''"""Prices with discounts."""


def discounted(price: float, percent: float) -> float:
    """Return the price after a discount."""
    return price * (1 - percent)
'''
TEST = """from prices import discounted


def test_a_discount_is_in_percent():
    assert discounted(80, 25) == 60
"""
CONFIGURATION = """[coder.providers.demo]
base_url = "{url}/v1"
models = ["scripted-model"]
"""
EXPLANATION = """`discounted()` in `prices.py` subtracts a share of the price:

```python
def discounted(price: float, percent: float) -> float:
    return price * (1 - percent)
```

It is **wrong for percentages**, because the argument isn't divided by 100:

| call | returns | expected |
|---|---:|---:|
| `discounted(80, 0.25)` | 60 | 79.8 |
| `discounted(80, 25)` | -1920 | 60 |

1. `test_prices.py` tests one case, and fails.
2. Discounts of 0 and 100 percent aren't tested.

Should I fix it, and add the missing tests?
"""
STEPS = ("Reproduce the failure", "Fix discounted()", "Run the tests again")
TESTS = Calls("run_command", {"command": "python -m pytest -q"}, id="tests")


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


def script_conversation(provider: FakeProvider) -> None:
    """Plan the answers of the model: look at the code, and explain it."""
    steps = [{"content": "Read the code", "status": "completed"}, {"content": "Explain it", "status": "completed"}]
    provider.says(Says("I'll read the code first."), Calls("read_file", {"file_path": "prices.py"}, id="code"))
    provider.says(Calls("read_file", {"file_path": "test_prices.py"}, id="test"))
    provider.says(Calls("set_plan", {"steps": steps}, id="plan"))
    provider.says(Says(EXPLANATION))


async def conversation(run: Run) -> None:
    await run.send("How are discounts calculated? Is it tested?")
    await run.until("Should I")
    await run.until("● ready")
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


def script(provider: FakeProvider) -> None:
    """Plan the answers of the model: reproduce, fix, test."""

    def plan(done: int) -> Calls:
        states = ["completed"] * done + ["in_progress"] + ["pending"] * len(STEPS)
        steps = [{"content": step, "status": state} for step, state in zip(STEPS, states, strict=False)]
        return Calls("set_plan", {"steps": steps}, id=f"plan-{done}")

    edit = {"old_string": "(1 - percent)", "new_string": "(1 - percent / 100)"}
    provider.says(Says("I'll reproduce the failure first."), plan(0), TESTS)
    provider.says(Calls("read_file", {"file_path": "prices.py"}, id="read"))
    why = "`percent` is used as a fraction: a discount of 25 subtracts 25 times the price. It has to be divided by 100."
    provider.says(Says(why), plan(1), Calls("edit_file", {"file_path": "prices.py", "edits": [edit]}, id="edit"))
    provider.says(plan(2), TESTS)
    provider.says(plan(3))
    provider.says(Says("Fixed: `discounted()` now reads its argument as a percentage, and the test passes."))


async def task(run: Run) -> None:
    await run.send("The test fails. Find out why and fix it.")
    await run.until("the test passes")
    await run.until("● ready")
    run.save("task")


async def completion(run: Run) -> None:
    await run.pilot.press("slash")
    await run.until("❯ /")
    run.save("completion")


async def main() -> None:
    # Whatever terminal this runs in: with fewer colors, changes are drawn in plain red and green.
    os.environ |= {"COLORTERM": "truecolor", "TERM": "xterm-256color"}
    os.environ.pop("NO_COLOR", None)
    from accord.cli.support.host import TuiHost
    from accord.tui.app import AccordApp

    # Else Rich would round the colors to those of a simple terminal.
    os.environ |= {"TERM": "xterm-256color", "COLORTERM": "truecolor", "TEXTUAL_COLOR_SYSTEM": "truecolor"}
    wanted = sys.argv[1:]
    for scene in (task, conversation, tools, permission, follow, completion):
        if wanted and scene.__name__ not in wanted:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for name in ("CONFIG", "DATA", "CACHE"):
                os.environ[f"ACCORD_{name}_HOME"] = f"{folder}/{name.lower()}"
            os.environ["HOME"] = folder
            project = Path(folder) / "shop"
            project.mkdir()
            if scene in SCRIPTS:
                await _play_scripted(scene, project, TuiHost, AccordApp)
            else:
                await _play(scene, project, TuiHost, AccordApp)


SCRIPTS: dict[Callable[[Run], Awaitable[None]], Callable[[FakeProvider], None]] = {
    task: script,
    conversation: script_conversation,
}
"""The scenes of the coding agent, and what the model answers in them."""


async def _play_scripted(scene: Callable[[Run], Awaitable[None]], project: Path, host: type, application: type) -> None:
    from accord.policy.rule import parse_rule

    (project / "prices.py").write_text(PRICES, encoding="utf-8")
    (project / "test_prices.py").write_text(TEST, encoding="utf-8")
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # no warnings of the plugins that our own tests use
    subprocess.run(  # noqa: ASYNC221  # before anything else runs
        ["git", "init", "--quiet", "--initial-branch=main"], cwd=project, check=True
    )
    async with FakeProvider() as provider:
        SCRIPTS[scene](provider)
        configuration = Path(os.environ["ACCORD_CONFIG_HOME"]) / "config.toml"
        configuration.parent.mkdir(parents=True)
        configuration.write_text(CONFIGURATION.format(url=provider.url), encoding="utf-8")
        rules = [parse_rule(rule, "allow") for rule in ("command:python -m pytest *", "write:prices.py")]
        target = f"{sys.executable} -m accord agent --model demo:scripted-model"
        app = application(host(project, frozenset({1}), rules), target)
        async with app.run_test(size=TASK_SIZE) as pilot:
            run = Run(app, pilot)
            await run.until("● ready")
            await scene(run)


async def _play(scene: Callable[[Run], Awaitable[None]], project: Path, host: type, application: type) -> None:
    target = f"{sys.executable} -m accord showcase --pace 0"
    app = application(host(project, frozenset({1})), target)
    async with app.run_test(size=SIZE) as pilot:
        run = Run(app, pilot)
        await run.until("● ready")
        await scene(run)


if __name__ == "__main__":
    asyncio.run(main())
