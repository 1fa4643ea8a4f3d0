"""The terminal of a new user: a shell in tmux, with the installed `accord` and nothing configured."""

from __future__ import annotations

import asyncio
import os
import shlex
import sys
import threading
from pathlib import Path
from types import TracebackType

from coder.providers.script import Step
from coder.providers.server import FakeProvider
from support.tmux import Tmux

GREETER = 'def greet(name):\n    return "Hello, " + name\n'
README = "# Greeter\n\nGreets people by name.\n"


class NewUser(Tmux):
    """A shell in a small project, in a home directory without any configuration."""

    def __init__(self, folder: Path, name: str, model: FakeModel | None = None) -> None:
        super().__init__(folder, name)
        (self.project / "foo.py").write_text(GREETER)
        (self.project / "README.md").write_text(README)
        self._model = model
        self._runs = 0

    def open(self, size: tuple[int, int] = (100, 30)) -> None:
        """Open the terminal."""
        self._tmux(
            "new-session", "-d", "-s", "t", "-x", str(size[0]), "-y", str(size[1]), "-c", str(self.project),
            "sh", "-c", self._shell("exec sh"),
        )  # fmt: skip
        self.until(r"(?m)^\$")

    def split(self, command: str) -> None:
        """Run a command in a second shell below."""
        where = ["-v", "-t", "t", "-c", str(self.project)]
        self._tmux("split-window", *where, "sh", "-c", self._shell(f"{command}; exec sh"))

    def _shell(self, command: str) -> str:
        """Return shell code that runs a command with the new user's environment."""
        variables = {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.folder),
            "ACCORD_CONFIG_HOME": str(self.folder / "config"),
            "ACCORD_DATA_HOME": str(self.folder / "data"),
            "ACCORD_CACHE_HOME": str(self.folder / "cache"),
            "LANG": "C.UTF-8",
            "COLORTERM": "truecolor",
            "PS1": "$ ",
            **(self._model.environment if self._model is not None else {}),
        }
        keys = " ".join(f"{name}={shlex.quote(value)}" for name, value in variables.items())
        unset = "COLUMNS LINES NO_COLOR" if self._model is not None else "COLUMNS LINES NO_COLOR ANTHROPIC_API_KEY"
        return f"unset {unset} OPENAI_API_KEY GEMINI_API_KEY; export {keys}; {command}"

    def run(self, command: str, status: int = 0) -> str:
        """Run a command in the shell, and return the screen once it has ended with this exit status."""
        self._runs += 1  # the screen may still show how the command before has ended
        self.send(f"clear; {command}; echo run {self._runs}: exit=$?")
        return self.until(rf"(?m)^run {self._runs}: exit={status}$")


class FakeModel:
    """A provider of models on this machine, in a thread."""

    def __init__(self) -> None:
        self._provider = FakeProvider()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> FakeModel:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._provider.__aenter__(), self._loop).result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._provider.__aexit__(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a user who has a key."""
        found = self._provider.environment()
        return {name: found[name] for name in ("ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY")}

    def says(self, *steps: Step) -> None:
        """Plan the next answer."""
        self._provider.says(*steps)

    def refuses(self, status: int, message: str, type: str) -> None:
        """Refuse the next request."""
        self._provider.refuses(status, message, type=type)
