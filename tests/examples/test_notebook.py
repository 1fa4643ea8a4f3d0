"""The example notebook runs in a real kernel, and its outputs are those that it shows.

`ACCORD_SNAPSHOTS=write pytest tests/examples/test_notebook.py` writes the outputs again."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from coder.providers.script import Calls, Says
from coder.providers.server import FakeProvider
from support import run_notebook
from support.example_process import EXAMPLES, command_of, run_python

pytestmark = pytest.mark.slow


def read_outputs(notebook: Path) -> list[Any]:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]


async def test_the_notebook_shows_what_it_prints(tmp_path: Path) -> None:
    source, target = EXAMPLES / "notebook.ipynb", tmp_path / "notebook.ipynb"
    async with FakeProvider() as provider:
        provider.says(Calls("read_file", {"path": "sales.csv"}))
        provider.says(Says("**May**, ", "with 31 sales."))
        provider.says(Calls("write_file", {"path": "best.txt", "text": "May: 31\n"}))
        provider.says(Says("Written to best.txt."))
        for estimate in ("28", "27", "30"):
            provider.says(Says(estimate))
        environment = {"AGENT": command_of("model_agent.py"), **provider.environment()}
        homes = {
            name: str(tmp_path / name) for name in ("HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR")
        }
        status, _, errors = await run_python(
            run_notebook.__file__, str(source), str(target), cwd=tmp_path, **environment, **homes
        )
    assert status == 0, errors
    if os.environ.get("ACCORD_SNAPSHOTS") == "write":
        shutil.copyfile(target, source)

    assert read_outputs(target) == read_outputs(source)
