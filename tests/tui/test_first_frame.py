"""The first frame: what isn't drawn in it isn't imported before it."""

import os
import subprocess
import sys
from pathlib import Path

LATER = (
    "accord.client",
    "accord.config.registry",
    "accord.config.settings",
    "accord.config.well_known",
    "accord.connection",
    "accord.policy.engine",
    "accord.status",
    "accord.store",
    "accord.tui.budget_watch",
    "accord.tui.overview",
    "accord.tui.panels.actions",
    "accord.tui.panels.follow",
    "accord.tui.panels.permission",
    "accord.tui.panels.queue",
    "accord.tui.panels.side",
    "accord.tui.panels.welcome",
    "accord.tui.prompt.vim",
    "accord.tui.screens.agents",
    "accord.tui.screens.modal",
    "accord.tui.screens.picker",
    "accord.tui.transcript.ansi",
    "accord.tui.transcript.blocks.attachment",
    "accord.tui.transcript.blocks.diff",
    "accord.tui.transcript.blocks.message",
    "accord.tui.transcript.blocks.notice",
    "accord.tui.transcript.blocks.tool",
    "accord.tui.transcript.images.decode",
    "accord.tui.transcript.markdown",
    "accord.workspace.ignore",
    "markdown_it",
    "pygments",
    "rich.syntax",
    "sqlite3",
    "tomllib",
)
"""Modules that the first frame doesn't need. Each costs every start a millisecond or more, with what it imports."""

CODE = """
import sys
from pathlib import Path
from accord.cli.support.host import TuiHost
from accord.tui.app import AccordApp

class Client(AccordApp):
    def _begin(self):  # called after the first frame
        self.exit("\\n".join(sys.modules))

print(Client(TuiHost(Path.cwd(), frozenset({1})), "built-in").run(headless=True))
"""


def test_nothing_that_the_first_frame_doesnt_show_is_imported_before_it(tmp_path: Path) -> None:
    homes = {f"ACCORD_{name}_HOME": str(tmp_path) for name in ("CONFIG", "DATA", "CACHE")}
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=tmp_path, env={**os.environ, **homes}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.split()
    assert "accord.tui.tab.tab" in loaded
    early = [name for name in loaded if any(name == each or name.startswith(f"{each}.") for each in LATER)]
    assert early == []
