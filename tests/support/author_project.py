"""Run pytest in a project of another author, with nothing but the plugins that it asks for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PLUGINS = ["-p", "pytest_asyncio.plugin", "-p", "accord.testing.pytest_plugin", "-p", "no:cacheprovider"]


def run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run pytest as the project's author would. Plugins of this project, which cost a second, aren't loaded."""
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-q", *PLUGINS, *options]
    return subprocess.run(command, cwd=folder, env=environment, text=True, capture_output=True, check=False)
