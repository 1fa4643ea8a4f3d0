"""read_file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from accord.client.local import LocalWorkspace
from accord.model.tool import Location
from accord.policy.engine import Policy
from accord.policy.rule import Rule
from accord.testing import ScriptedClient
from accord.workspace.overlay import Overlay

from .conftest import ALLOWED, Benches


async def test_a_file_is_read_and_shown(bench: Benches, lent: dict[str, Any]) -> None:
    async with bench(**lent) as desk:
        desk.write("src/app.py", "one\ntwo\n")
        assert await desk.told("read_file", path="src/app.py") == "one\ntwo\n"
        shown = desk.shown
        assert (shown.title, shown.kind, shown.status) == ("Read src/app.py", "read", "completed")
        assert shown.locations == [Location(path=str(desk.project / "src/app.py"))]
        assert desk.shown_text == "```py\none\ntwo\n```"
        assert shown.raw_input == {"path": "src/app.py"}
        assert shown.raw_output["lines"] == 2
